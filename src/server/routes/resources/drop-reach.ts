/**
 * How many open streams a drop concerns, and over which time their browsers spread what they ask then.
 *
 * | streams of a client | count for other clients | count for itself |
 * |---------------------|-------------------------|------------------|
 * | up to 64            | all                     | all              |
 * | more                | 64                      | all              |
 *
 * So an office behind one address spreads its own requests, and one client with hundreds of streams delays what others
 * see by a second at most.
 */

const FEW_STREAMS = 8
const MS_FOR_EACH = 16 // 60 requests a second, whatever they cost beside other visitors
const LONGEST_SPREAD_MS = 60_000
const MOST_OF_A_CLIENT = 64
const LEAST_GAP_MS = 50
const GAP_SHARE = 8

/** Streams by client. */
type StreamCounts = ReadonlyMap<string, number>

/** The streams that a drop concerns. */
export interface DropReach {
  /** Time between two events for the same stream, in ms. By all streams: it bounds what writing to them costs. */
  readonly gapMs: number
  /** Over which a client's browsers spread their requests, in ms; 0 for at once. Counts when it is first called. */
  spreadMs(client: string): number
}

/** @param topics streams by client, for each topic that is concerned; may change until they are counted. */
export function reachOf(topics: readonly StreamCounts[]): DropReach {
  let counted: { readonly byClient: StreamCounts; readonly sum: number } | undefined
  function countAll() {
    const byClient = added(topics)
    let sum = 0
    for (const own of byClient.values()) sum += Math.min(own, MOST_OF_A_CLIENT)
    return { byClient, sum }
  }
  let all = 0
  for (const topic of topics) for (const own of topic.values()) all += own
  return {
    gapMs: Math.max(LEAST_GAP_MS, spreadMs(all) / GAP_SHARE),
    spreadMs(client) {
      counted ??= countAll()
      const { byClient, sum } = counted
      return spreadMs(sum + Math.max(0, (byClient.get(client) ?? 0) - MOST_OF_A_CLIENT))
    },
  }
}

function added(topics: readonly StreamCounts[]): StreamCounts {
  const counts = new Map<string, number>()
  for (const topic of topics) {
    for (const [client, own] of topic) counts.set(client, (counts.get(client) ?? 0) + own)
  }
  return counts
}

/** Over which the browsers of that many streams spread their requests. */
function spreadMs(streams: number): number {
  return streams <= FEW_STREAMS ? 0 : Math.min(streams * MS_FOR_EACH, LONGEST_SPREAD_MS)
}
