/** What a client holds, in keys or in bytes. */
export interface HeldByClient {
  readonly client: string
  readonly amount: number
}

const FEWEST_ASKED = 64

/**
 * How many of the largest clients to read to make room, so that a store with many small clients does not list them all:
 * those that together hold twice the excess, because the largest hold at least their equal share. If more of them
 * exceed the level, the others are cut next time.
 */
export function countGreediest({ total, most, clients }: HeldInAll): number {
  return Math.max(FEWEST_ASKED, Math.ceil((2 * (total - most) * clients) / total))
}

/** Totals of all clients. */
interface HeldInAll {
  readonly total: number
  readonly most: number
  /** Their number. */
  readonly clients: number
}

/**
 * The largest amount per client with which all together stay within the bound: clients below the level keep everything,
 * and those above it are cut to the level.
 * @param greediest clients with more than their equal share of the bound, largest first.
 * @param total of all clients.
 * @param most the bound.
 */
export function judgeLevel(greediest: readonly HeldByClient[], total: number, most: number): number {
  let rest = most - (total - greediest.reduce((sum, { amount }) => sum + amount, 0))
  for (const [index, { amount }] of greediest.toReversed().entries()) {
    const sharers = greediest.length - index
    if (amount * sharers > rest) return Math.max(0, Math.floor(rest / sharers))
    rest -= amount
  }
  return Number.MAX_SAFE_INTEGER
}

/**
 * Cuts the largest clients to the level of `judgeLevel`, as few as necessary.
 * @param greediest as for `judgeLevel`.
 * @param cut reduces a client to an amount.
 */
export function cutGreediest(
  { total, most }: { readonly total: number; readonly most: number },
  greediest: readonly HeldByClient[],
  cut: (client: string, level: number) => void,
): void {
  const level = judgeLevel(greediest, total, most)
  let excess = total - most
  for (const { client, amount } of greediest) {
    if (excess <= 0) return
    cut(client, level)
    excess -= amount - level
  }
}
