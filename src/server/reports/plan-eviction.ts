/**
 * Chooses the envelopes to evict for a new one: those of the largest client, and never those of a client smaller than
 * the sender would become. So no client can push out envelopes of others, and small senders lose nothing. Of one client
 * the oldest go first, or in the order of the store.
 */

/** Amount that a client holds. */
export interface Holding {
  readonly client: string
  /** In the unit of the bound: bytes or envelopes. */
  readonly amount: number
}

/** A store in which room is made. */
export interface EvictionSource<Row extends { readonly amount: number }> {
  /** The largest clients, in descending order; at most `most`. */
  greediest(most: number): readonly Holding[]
  /** Amount that a client holds. */
  heldBy(client: string): number
  /** The client's evictable rows, in order of eviction. */
  rowsOf(client: string): Iterator<Row>
}

/** Room that is needed. */
interface RoomNeeded {
  readonly sender: string
  /** Size of the new envelope. */
  readonly size: number
  /** Excess over the bound of the whole store. */
  readonly need: number
  /** Excess over the bound of one client. */
  readonly ownNeed: number
  /** Maximum rows to evict at once. */
  readonly mostRows: number
}

/** Rows to evict. */
interface EvictionPlan<Row> {
  readonly rows: readonly Row[]
  /** `enough`: there is room then. `more`: not yet, but more could be evicted. `none`: nothing more may be evicted. */
  readonly outcome: 'enough' | 'more' | 'none'
}

const MOST_RANKED = 256 // clients; among more clients of about equal size, a row more or less does not matter

/** On a full disk, a client that holds less times what is to be freed loses nothing: it is not what has filled the disk. */
const MOST_TIMES = 8

/** Whether some client holds so much that `bytes` of it may go, although the store is within its bound. */
export function holdsMost({ greediest }: Pick<EvictionSource<never>, 'greediest'>, bytes: number): boolean {
  return isMost(greediest(1)[0]?.amount ?? 0, bytes)
}

/** The same of one amount: without as much in all, no client has it. */
export function isMost(amount: number, bytes: number): boolean {
  return amount >= MOST_TIMES * bytes
}

/** Chooses the rows to evict. Changes nothing. */
export function planEviction<Row extends { readonly amount: number }>(
  { sender, size, need, ownNeed, mostRows }: RoomNeeded,
  source: EvictionSource<Row>,
): EvictionPlan<Row> {
  const rows: Row[] = []
  if (need <= 0 && ownNeed <= 0) return { rows, outcome: 'enough' }
  const left = new Map(source.greediest(MOST_RANKED).map(({ client, amount }) => [client, amount]))
  const candidates = new Map<string, Iterator<Row>>()
  let own = (left.get(sender) ?? source.heldBy(sender)) + size
  let freed = 0
  let ownFreed = 0
  left.delete(sender)

  /** @returns whether there was one. */
  function takeFrom(client: string): boolean {
    const of = candidates.get(client) ?? source.rowsOf(client)
    candidates.set(client, of)
    const row = of.next()
    if (row.done === true) return false
    const { amount } = row.value
    rows.push(row.value)
    freed += amount
    if (client === sender) {
      own -= amount
      ownFreed += amount
    } else left.set(client, (left.get(client) ?? 0) - amount)
    return true
  }

  while (freed < need || ownFreed < ownNeed) {
    if (rows.length === mostRows) return { rows, outcome: 'more' }
    const greediest = ownFreed < ownNeed ? undefined : most(left)
    if (greediest !== undefined && greediest.amount > own) {
      if (!takeFrom(greediest.client)) left.delete(greediest.client)
    } else if (!takeFrom(sender)) return { rows: [], outcome: 'none' }
  }
  return { rows, outcome: 'enough' }
}

function most(left: ReadonlyMap<string, number>): Holding | undefined {
  let found: Holding | undefined
  for (const [client, amount] of left) if (found === undefined || amount > found.amount) found = { client, amount }
  return found
}
