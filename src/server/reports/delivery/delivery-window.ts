/**
 * Chooses the envelope to send next. The window holds the oldest entries of the kinds that may be sent, so that neither
 * a long queue nor a rate-limited one has to be scanned. At most 4,096 entries, 32 of them of one client: its further
 * entries are loaded after those have been sent, so that its queue blocks nobody. Each entry is read when it is found, and
 * again only if it was left out; the event loop is yielded to by the rows that were read. Only a change of the limits
 * rebuilds the window. If a failed attempt did, or a kind that a client adds, one client could have its queue walked
 * again and again.
 */
import { setImmediate } from 'node:timers/promises'
import type { Spool, SpooledEntry } from '../spool/spool.ts'
import { createKindLanes } from './kind-lanes.ts'
import { createLeftOut } from './left-out.ts'
import { createWindowEntries } from './window-entries.ts'

const ROWS_A_TURN = 256 // of the event loop: about 2 ms
const ROWS_OF_A_CALL = 2 // what a call costs beside its rows
const MOST_ENTRIES = 4_096 // later ones must wait; it takes 128 clients to fill it
const MOST_LEFT_OUT = 1_000_000 // twice what a spool can hold: the others have been evicted since

/** The entries to send, oldest first. Await each call of `take` before any other but `giveBack`. */
interface DeliveryWindow {
  /**
   * Takes the oldest entry that may be sent. Entries of one client are taken in order, if `isBusy` is true while one of
   * them is being sent.
   * @param mayLeave whether the limits allow entries of this kind.
   * @param random 0 to below 1: takes the oldest of any client. Default: of all.
   */
  take(
    mayLeave: (kind: string) => boolean,
    isBusy: (client: string) => boolean,
    random?: () => number,
  ): Promise<SpooledEntry | undefined>
  /** An entry that was taken has to be sent again. Call it while its client is still busy. */
  giveBack(entry: SpooledEntry): void
  /** Forgets everything, and starts again with the oldest: others may have changed the spool. */
  rewind(): void
}

/** Opens the window on a spool. */
export function createDeliveryWindow(spool: Pick<Spool, 'lastId' | 'kinds' | 'list'>): DeliveryWindow {
  const entries = createWindowEntries()
  const leftOut = createLeftOut()
  const { list, yieldByRows } = countRows(spool)
  const lanes = createKindLanes(list)
  let known: readonly string[] = []
  /** Kinds that were limited while the spool was read: they may have entries older than those in the window. */
  const passedOver = new Set<string>()
  /** Entries taken since the window was rewound; those taken before are read again. */
  let taken = new WeakSet<SpooledEntry>()
  /** All entries up to this id have been read, but those of kinds that are limited; `undefined` if not all. */
  let allReadTo: number | undefined

  function rewind(): void {
    entries.clear()
    leftOut.clear()
    lanes.clear()
    passedOver.clear()
    taken = new WeakSet()
    allReadTo = undefined
  }

  /** The known kinds that may be sent. */
  function openKinds(mayLeave: (kind: string) => boolean): readonly string[] {
    const open: string[] = []
    const closed: string[] = []
    for (const kind of known) (mayLeave(kind) ? open : closed).push(kind)
    if (open.some((kind) => passedOver.has(kind)) || closed.some((kind) => lanes.has(kind))) rewind()
    for (const kind of closed) passedOver.add(kind)
    return open
  }

  /** @returns whether there were any entries to read. */
  async function extend(kinds: readonly string[]): Promise<boolean> {
    const found = await lanes.next(kinds)
    for (const { entry, kind } of found) {
      if (entries.roomFor(entry.client) <= 0 || leftOut.isBehind(entry)) leftOut.add(entry, kind)
      else entries.add(entry)
    }
    return found.length > 0
  }

  /** Loads entries of a client whose entries in the window have all been taken. Evicted ones are not found. */
  async function catchUp(client: string): Promise<void> {
    const runs = leftOut.take(client, entries.roomFor(client))
    const reading = Promise.all(runs.map(({ kind, first, length }) => list(kind, first - 1, length)))
    const pages = await reading.catch((thrown: unknown) => {
      // Nobody else knows of what has been taken out.
      rewind()
      throw thrown
    })
    for (const [at, { first, length }] of runs.entries()) {
      for (const entry of pages[at] ?? []) {
        if (entry.client === client && entry.id < first + length) entries.add(entry)
      }
    }
  }

  /** A client that could send but has no entry in the window. */
  function findStarved(isBusy: (client: string) => boolean): string | undefined {
    for (const client of leftOut.clients) if (!entries.has(client) && !isBusy(client)) return client
    return undefined
  }

  return {
    async take(mayLeave, isBusy, random) {
      if (leftOut.size > MOST_LEFT_OUT) rewind()
      let newest: number | undefined
      for (;;) {
        await yieldByRows()
        const kinds = openKinds(mayLeave)
        const starved = findStarved(isBusy)
        if (starved !== undefined) {
          await catchUp(starved)
          continue
        }
        const entry = entries.take(isBusy, random)
        if (entry !== undefined) taken.add(entry)
        if (entry !== undefined || entries.size >= MOST_ENTRIES) return entry
        if (newest === undefined) {
          newest = await spool.lastId()
          // Each of a hundred kinds would be asked in vain, after each answer to one of many clients.
          if (newest === allReadTo) return undefined
          known = await spool.kinds()
        } else if (!(await extend(kinds))) {
          allReadTo = newest
          return undefined
        }
      }
    },
    giveBack(entry) {
      if (taken.delete(entry)) entries.add(entry)
    },
    rewind,
  }
}

/** Reading that yields to the event loop after some rows; call `yieldByRows` between two readings. */
function countRows(spool: Pick<Spool, 'list'>) {
  let rows = 0
  return {
    async list(...given: Parameters<Spool['list']>): Promise<readonly SpooledEntry[]> {
      const found = await spool.list(...given)
      rows += found.length + ROWS_OF_A_CALL
      return found
    },
    async yieldByRows(): Promise<void> {
      if (rows < ROWS_A_TURN) return
      rows = 0
      await setImmediate()
    },
  }
}
