/**
 * Reads the spool's entries of several kinds in one order, each once. A client chooses how many kinds there are (some
 * 100) and how their entries lie, so what is read of a kind and may not be used yet, because older entries of another
 * kind may follow, is kept.
 */
import type { Spool, SpooledEntry } from '../spool/spool.ts'

const PAGE = 128 // entries read together, of all kinds: about half a millisecond
const LEAST_OF_A_KIND = 2 // read together: one would need a call for each entry

/** Where the reading of a kind is. */
interface Lane {
  readonly kind: string
  /** Read, and not used yet. */
  ahead: readonly SpooledEntry[]
  /** Id of the last one read. */
  readTo: number
  /** Whether the last reading brought all that there was. */
  isDrained: boolean
}

/** An entry, and the text of its kind that all entries share. */
interface LaneEntry {
  readonly entry: SpooledEntry
  readonly kind: string
}

/** The reading of a spool. */
export interface KindLanes {
  /** Whether entries of a kind have been asked for since the beginning. */
  has(kind: string): boolean
  /**
   * The following entries of some kinds, oldest first: at most some hundreds. Of a kind that was unknown before, older
   * ones than those returned last may come.
   * @returns none if there are none for now.
   */
  next(kinds: readonly string[]): Promise<readonly LaneEntry[]>
  /** Begins with the oldest again. */
  clear(): void
}

/** Opens lanes at the beginning of a spool. @param list counted by the caller. */
export function createKindLanes(list: Spool['list']): KindLanes {
  const lanes = new Map<string, Lane>()

  function laneOf(kind: string): Lane {
    const known = lanes.get(kind)
    if (known !== undefined) return known
    const lane = { kind, ahead: [], readTo: 0, isDrained: false }
    lanes.set(kind, lane)
    return lane
  }

  /** @returns the id up to which nothing older of these kinds is unread. */
  async function fill(empty: readonly Lane[]): Promise<number> {
    const most = Math.max(LEAST_OF_A_KIND, Math.floor(PAGE / Math.max(1, empty.length)))
    const ends = await Promise.all(
      empty.map(async (lane) => {
        const ahead = await list(lane.kind, lane.readTo, most)
        lane.ahead = ahead
        lane.readTo = ahead.at(-1)?.id ?? lane.readTo
        lane.isDrained = ahead.length < most
        return lane.isDrained ? Number.POSITIVE_INFINITY : lane.readTo
      }),
    )
    return Math.min(...ends, Number.POSITIVE_INFINITY)
  }

  return {
    has: (kind) => lanes.has(kind),
    async next(kinds) {
      const open = kinds.map(laneOf)
      const empty = open.filter(({ ahead }) => ahead.length === 0)
      const kept = open.filter(({ ahead }) => ahead.length > 0).map(({ readTo }) => readTo)
      // Drained lanes have pages of their own: they would leave the others a few rows each.
      const ends = await Promise.all([
        fill(empty.filter(({ isDrained }) => isDrained)),
        fill(empty.filter(({ isDrained }) => !isDrained)),
      ])
      const horizon = Math.min(...ends, ...kept)
      return open.flatMap((lane) => take(lane, horizon)).toSorted((one, other) => one.entry.id - other.entry.id)
    },
    clear: () => lanes.clear(),
  }
}

function take(lane: Lane, horizon: number): LaneEntry[] {
  const { kind, ahead } = lane
  const end = ahead.findIndex(({ id }) => id > horizon)
  const used = end < 0 ? ahead : ahead.slice(0, end)
  lane.ahead = end < 0 ? [] : ahead.slice(end)
  return used.map((entry) => ({ entry, kind }))
}
