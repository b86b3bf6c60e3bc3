/**
 * Which envelope is sent next. The window holds the oldest entries of the kinds that may be sent, so that neither a long
 * queue nor one that waits for its limit has to be walked through. At most 4,096 entries, 32 of them of one client: what
 * it has beyond that is read again when those have been sent, so that its queue keeps nobody's behind it waiting. Rebuilt
 * when the limits let other kinds through.
 */
import { setImmediate } from 'node:timers/promises'
import type { Spool, SpooledEntry } from '../spool/spool.ts'

const PAGE = 256 // entries of one kind read together: well under a millisecond
const PAGES_A_TURN = 8 // of the event loop
const MOST_ENTRIES = 4_096 // beyond it, those behind have to wait; it takes 128 clients
const MOST_OF_A_CLIENT = 32

/** The entries to send, oldest first. */
export interface DeliveryWindow {
  /**
   * Takes the oldest entry that may be sent. Entries of one client come in order, as long as `isBusy` says so of those
   * whose entry is under way. To be asked again once it has answered.
   * @param mayLeave whether entries of this kind are let through by the limits.
   */
  take(mayLeave: (kind: string) => boolean, isBusy: (client: string) => boolean): Promise<SpooledEntry | undefined>
  /** Begins again with the oldest: an entry that was taken is to be sent once more. */
  rewind(): void
}

/** The window on a spool. */
export function createDeliveryWindow(spool: Pick<Spool, 'kinds' | 'list'>): DeliveryWindow {
  let entries: SpooledEntry[] = []
  let readTo = 0
  /** Entries in the window of each client. */
  const held = new Map<string, number>()
  /** Clients that have more entries up to `readTo`, and the id behind which they are. */
  const leftOut = new Map<string, number>()
  /** As the spool has last said; one that has come since has entries behind `readTo` only. */
  let known: readonly string[] = []
  let openKinds = ''
  let beginnings = 0

  function rewind(): void {
    beginnings += 1
    entries = []
    readTo = 0
    held.clear()
    leftOut.clear()
  }

  /** @returns what follows, in order; `undefined` when the window has been rewound meanwhile. */
  async function read(kinds: readonly string[], after: number): Promise<readonly SpooledEntry[] | undefined> {
    const beginning = beginnings
    const pages = await Promise.all(kinds.map((kind) => spool.list(kind, after, PAGE)))
    if (beginning !== beginnings) return undefined
    // Behind the end of a full page, older entries of its kind may follow: nothing newer may go before them.
    const ends = pages.filter(({ length }) => length === PAGE).map((page) => page.at(-1)?.id ?? 0)
    const horizon = Math.min(...ends, Number.POSITIVE_INFINITY)
    return pages
      .flat()
      .filter(({ id }) => id <= horizon)
      .toSorted((one, other) => one.id - other.id)
  }

  /** @returns whether it is in the window; else its client has enough there. */
  function add(entry: SpooledEntry): boolean {
    const count = held.get(entry.client) ?? 0
    if (count >= MOST_OF_A_CLIENT) return false
    held.set(entry.client, count + 1)
    entries.push(entry)
    return true
  }

  function remove(at: number): SpooledEntry | undefined {
    const entry = entries.splice(at, 1)[0]
    if (entry === undefined) return undefined
    const left = (held.get(entry.client) ?? 0) - 1
    if (left > 0) held.set(entry.client, left)
    else held.delete(entry.client)
    return entry
  }

  /** @returns whether there was anything to read. */
  async function extend(kinds: readonly string[]): Promise<boolean> {
    const found = await read(kinds, readTo)
    if (found === undefined) return true
    for (const entry of found) {
      if (!leftOut.has(entry.client) && !add(entry)) leftOut.set(entry.client, entry.id - 1)
    }
    readTo = found.at(-1)?.id ?? readTo
    return found.length > 0
  }

  /** Reads on for a client whose entries in the window have all been taken. */
  async function catchUp(client: string, kinds: readonly string[]): Promise<void> {
    const found = await read(kinds, leftOut.get(client) ?? readTo)
    if (found === undefined) return
    const own = found.filter((entry) => entry.client === client && entry.id <= readTo)
    const tooMany = own.find((entry) => !add(entry))
    const end = tooMany === undefined ? (found.at(-1)?.id ?? readTo) : tooMany.id - 1
    if (end < readTo) leftOut.set(client, end)
    else leftOut.delete(client)
    entries.sort((one, other) => one.id - other.id)
  }

  /** A client that could be sent for, had it an entry in the window. */
  function findStarved(isBusy: (client: string) => boolean): string | undefined {
    for (const client of leftOut.keys()) if (!held.has(client) && !isBusy(client)) return client
    return undefined
  }

  return {
    async take(mayLeave, isBusy) {
      let isFresh = false
      for (let reads = 1; ; reads += 1) {
        if (reads % PAGES_A_TURN === 0) await setImmediate()
        const kinds = known.filter(mayLeave)
        const open = kinds.join(' ')
        // A kind that was held back may have entries before `readTo`.
        if (open !== openKinds) rewind()
        openKinds = open
        const starved = findStarved(isBusy)
        if (starved !== undefined) {
          await catchUp(starved, kinds)
          continue
        }
        const at = entries.findIndex(({ client }) => !isBusy(client))
        if (at >= 0) return remove(at)
        if (entries.length >= MOST_ENTRIES) return undefined
        if (!isFresh) {
          known = await spool.kinds()
          isFresh = true
        } else if (!(await extend(kinds))) return undefined
      }
    },
    rewind,
  }
}
