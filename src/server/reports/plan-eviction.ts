/**
 * Whose envelopes make room for another: those of the client that holds most, and never those of one that holds less than
 * the sender would. So no client can force out what others have sent, and one that has sent little loses nothing. Of one
 * client the oldest go first, or in whatever order the store gives.
 */

/** What a client holds. */
export interface Holding {
  readonly client: string
  /** In the measure of the bound: bytes or envelopes. */
  readonly amount: number
}

/** A store in which room is made. */
export interface EvictionSource<Row extends { readonly amount: number }> {
  /** The clients that hold most, the one with most first; at most `most`. */
  greediest(most: number): readonly Holding[]
  /** What a client holds. */
  heldBy(client: string): number
  /** What may go of a client, in the order in which it goes. */
  rowsOf(client: string): Iterator<Row>
}

/** Room that is needed. */
export interface RoomNeeded {
  readonly sender: string
  /** What comes. */
  readonly size: number
  /** By how much it is too much for the whole store. */
  readonly need: number
  /** By how much it is too much for what one client may hold. */
  readonly ownNeed: number
  /** Rows that may go at once. */
  readonly mostRows: number
}

/** What is to go. */
export interface EvictionPlan<Row> {
  readonly rows: readonly Row[]
  /** `enough`: there is room then. `more`: not yet, but more could go. `none`: nothing more may go for this one. */
  readonly outcome: 'enough' | 'more' | 'none'
}

const MOST_RANKED = 256 // clients; with more that hold about the same, a row more or less of one does not matter

/** Chooses what is to go. Nothing is changed. */
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
