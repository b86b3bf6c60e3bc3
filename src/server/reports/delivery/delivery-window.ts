/**
 * Which envelope is sent next. The window holds the oldest entries of the kinds that may be sent, so that neither a long
 * queue nor one that waits for its limit has to be walked through. At most 4,096 entries; rebuilt when the limits let
 * other kinds through.
 */
import type { Spool, SpooledEntry } from '../spool/spool.ts'

const PAGE = 256 // entries of one kind read together: well under a millisecond
const MOST_ENTRIES = 4_096 // beyond it, those behind one busy client have to wait for it

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
  /** As the spool has last said; one that has come since has entries behind `readTo` only. */
  let known: readonly string[] = []
  let openKinds = ''
  let beginnings = 0

  function rewind(): void {
    beginnings += 1
    entries = []
    readTo = 0
  }

  /** @returns whether there was anything to add. */
  async function extend(kinds: readonly string[]): Promise<boolean> {
    const beginning = beginnings
    const pages = await Promise.all(kinds.map((kind) => spool.list(kind, readTo, PAGE)))
    // Rewound meanwhile: what was read is not what comes next any more.
    if (beginning !== beginnings) return true
    // Behind the end of a full page, older entries of its kind may follow: nothing newer may go before them.
    const ends = pages.filter(({ length }) => length === PAGE).map((page) => page.at(-1)?.id ?? 0)
    const horizon = Math.min(...ends, Number.POSITIVE_INFINITY)
    const added = pages
      .flat()
      .filter(({ id }) => id <= horizon)
      .toSorted((one, other) => one.id - other.id)
    entries = [...entries, ...added]
    readTo = added.at(-1)?.id ?? readTo
    return added.length > 0
  }

  return {
    async take(mayLeave, isBusy) {
      let isFresh = false
      for (;;) {
        const kinds = known.filter(mayLeave)
        const open = kinds.join(' ')
        // A kind that was held back may have entries before `readTo`.
        if (open !== openKinds) rewind()
        openKinds = open
        const at = entries.findIndex(({ client }) => !isBusy(client))
        if (at >= 0) return entries.splice(at, 1)[0]
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
