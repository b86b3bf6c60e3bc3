/** What a client holds, in keys or in bytes. */
export interface HeldByClient {
  readonly client: string
  readonly amount: number
}

const FEWEST_ASKED = 64

/**
 * How many of the greediest clients have to be known to make room, so that a store with many small clients does not list
 * them all: those that hold twice the excess together, since the greediest hold no less than their equal part of the total.
 * Where more of them hold too much, others are cut next time.
 */
export function countGreediest({ total, most, clients }: HeldInAll): number {
  return Math.max(FEWEST_ASKED, Math.ceil((2 * (total - most) * clients) / total))
}

/** What all clients hold together. */
export interface HeldInAll {
  readonly total: number
  readonly most: number
  /** How many of them there are. */
  readonly clients: number
}

/**
 * How much each client may keep at most, so that all together keep no more than the bound: those that hold less keep what
 * they have, and those that hold more come down to one level.
 * @param greediest clients that hold more than their equal part of the bound, those with most first.
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
