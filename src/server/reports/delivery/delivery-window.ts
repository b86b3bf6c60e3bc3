/**
 * Chooses the envelope to send next. The window holds the oldest entries of the kinds that may be sent, so that neither
 * a long queue nor a rate-limited one has to be scanned. At most 4,096 entries, 32 of them of one client: its further
 * entries are read after those have been sent, so that its queue blocks nobody. Rebuilt when the limits allow other
 * kinds.
 */
import { setImmediate } from 'node:timers/promises'
import type { Spool, SpooledEntry } from '../spool/spool.ts'

const PAGE = 256 // entries of one kind read together: well under a millisecond
const PAGES_A_TURN = 8 // of the event loop
const MOST_ENTRIES = 4_096 // later ones must wait; it takes 128 clients to fill it
const MOST_OF_A_CLIENT = 32

/** The entries to send, oldest first. */
interface DeliveryWindow {
  /**
   * Takes the oldest entry that may be sent. Entries of one client are taken in order, if `isBusy` is true while one of
   * them is being sent. Await each call before the next.
   * @param mayLeave whether the limits allow entries of this kind.
   * @param random 0 to below 1: takes the oldest of any client. Default: of all.
   */
  take(
    mayLeave: (kind: string) => boolean,
    isBusy: (client: string) => boolean,
    random?: () => number,
  ): Promise<SpooledEntry | undefined>
  /** Starts again with the oldest: a taken entry must be sent again. */
  rewind(): void
}

/** Opens the window on a spool. */
export function createDeliveryWindow(spool: Pick<Spool, 'kinds' | 'list'>): DeliveryWindow {
  const entries = createEntries()
  let readTo = 0
  /** Clients that have more entries up to `readTo`, and the id after which they follow. */
  const leftOut = new Map<string, number>()
  /** Kinds at the last reading of the spool; a newer kind has entries after `readTo` only. */
  let known: readonly string[] = []
  let openKinds = ''
  let beginnings = 0

  function rewind(): void {
    beginnings += 1
    readTo = 0
    entries.clear()
    leftOut.clear()
  }

  /** @returns the following entries in order; `undefined` if the window has been rewound meanwhile. */
  async function read(kinds: readonly string[], after: number): Promise<readonly SpooledEntry[] | undefined> {
    const beginning = beginnings
    const pages = await Promise.all(kinds.map((kind) => spool.list(kind, after, PAGE)))
    if (beginning !== beginnings) return undefined
    // After a full page, older entries of its kind may follow: no newer entry may be sent before them.
    const ends = pages.filter(({ length }) => length === PAGE).map((page) => page.at(-1)?.id ?? 0)
    const horizon = Math.min(...ends, Number.POSITIVE_INFINITY)
    return pages
      .flat()
      .filter(({ id }) => id <= horizon)
      .toSorted((one, other) => one.id - other.id)
  }

  /** @returns whether there were any entries to read. */
  async function extend(kinds: readonly string[]): Promise<boolean> {
    const found = await read(kinds, readTo)
    if (found === undefined) return true
    for (const entry of found) {
      if (!leftOut.has(entry.client) && !entries.add(entry)) leftOut.set(entry.client, entry.id - 1)
    }
    readTo = found.at(-1)?.id ?? readTo
    return found.length > 0
  }

  /** Reads on for a client whose entries in the window have all been taken. */
  async function catchUp(client: string, kinds: readonly string[]): Promise<void> {
    const found = await read(kinds, leftOut.get(client) ?? readTo)
    if (found === undefined) return
    const own = found.filter((entry) => entry.client === client && entry.id <= readTo)
    const tooMany = own.find((entry) => !entries.add(entry))
    const end = tooMany === undefined ? (found.at(-1)?.id ?? readTo) : tooMany.id - 1
    if (end < readTo) leftOut.set(client, end)
    else leftOut.delete(client)
    entries.sort()
  }

  /** A client that could send but has no entry in the window. */
  function findStarved(isBusy: (client: string) => boolean): string | undefined {
    for (const client of leftOut.keys()) if (!entries.has(client) && !isBusy(client)) return client
    return undefined
  }

  return {
    async take(mayLeave, isBusy, random) {
      let isFresh = false
      for (let reads = 1; ; reads += 1) {
        if (reads % PAGES_A_TURN === 0) await setImmediate()
        const kinds = known.filter(mayLeave)
        const open = kinds.join(' ')
        // A kind that was rate-limited may have entries before `readTo`.
        if (open !== openKinds) rewind()
        openKinds = open
        const starved = findStarved(isBusy)
        if (starved !== undefined) {
          await catchUp(starved, kinds)
          continue
        }
        const entry = entries.take(isBusy, random)
        if (entry !== undefined || entries.size >= MOST_ENTRIES) return entry
        if (!isFresh) {
          known = await spool.kinds()
          isFresh = true
        } else if (!(await extend(kinds))) return undefined
      }
    },
    rewind,
  }
}

/** Entries in the window, oldest first; at most `MOST_OF_A_CLIENT` of each client. */
interface WindowEntries {
  readonly size: number
  has(client: string): boolean
  /** @returns whether it was added; if not, its client has enough entries. */
  add(entry: SpooledEntry): boolean
  /** To be called after entries have been added that are older than the last. */
  sort(): void
  /** Takes the oldest entry of a client that is not busy. @param random as for `DeliveryWindow.take`. */
  take(isBusy: (client: string) => boolean, random?: () => number): SpooledEntry | undefined
  clear(): void
}

function createEntries(): WindowEntries {
  const entries: SpooledEntry[] = []
  /** Number of entries by client. */
  const held = new Map<string, number>()

  return {
    get size() {
      return entries.length
    },
    has: (client) => held.has(client),
    add(entry) {
      const count = held.get(entry.client) ?? 0
      if (count >= MOST_OF_A_CLIENT) return false
      held.set(entry.client, count + 1)
      entries.push(entry)
      return true
    },
    sort() {
      entries.sort((one, other) => one.id - other.id)
    },
    take(isBusy, random) {
      const clients = random === undefined ? [] : [...held.keys()].filter((client) => !isBusy(client))
      const chosen = random === undefined ? undefined : clients[Math.floor(random() * clients.length)]
      const at = entries.findIndex(({ client }) => (chosen === undefined ? !isBusy(client) : client === chosen))
      const entry = at < 0 ? undefined : entries.splice(at, 1)[0]
      if (entry === undefined) return undefined
      const left = (held.get(entry.client) ?? 0) - 1
      if (left > 0) held.set(entry.client, left)
      else held.delete(entry.client)
      return entry
    },
    clear() {
      entries.length = 0
      held.clear()
    },
  }
}
