import {
  readRouteData,
  type ReceivedSegment,
  type RouteDataSink,
  type SegmentContent,
} from '../../../src/shared/protocol/decode-route-data.ts'
import type { TextStream } from '../../../src/shared/protocol/hydration-data.ts'
import type { RouteDataHead, RouteDataOutcome, RouteDataRedirect } from '../../../src/shared/protocol/route-data.ts'

/** What came out of reading one answer. */
export interface ReadAnswer {
  readonly head: RouteDataHead | undefined
  readonly segments: ReadonlyMap<string, ReceivedSegment>
  readonly contents: ReadonlyMap<string, SegmentContent>
  readonly outcomes: readonly RouteDataOutcome[]
  readonly redirects: readonly RouteDataRedirect[]
  /** Names of the sink's calls, in their order. */
  readonly calls: readonly string[]
  /** What `readRouteData` rejected with; `undefined` when it resolved. */
  readonly failed: unknown
}

/**
 * Reads an answer to its end.
 * @param overrides calls of the sink that do something else.
 */
export async function readAnswer(stream: TextStream, overrides: Partial<RouteDataSink> = {}): Promise<ReadAnswer> {
  const segments = new Map<string, ReceivedSegment>()
  const contents = new Map<string, SegmentContent>()
  const outcomes: RouteDataOutcome[] = []
  const redirects: RouteDataRedirect[] = []
  const calls: string[] = []
  let head: RouteDataHead | undefined
  const sink: RouteDataSink = {
    head(record) {
      calls.push('head')
      head = record
    },
    segment(segment) {
      calls.push(`segment ${segment.segment}`)
      segments.set(segment.segment, segment)
    },
    settled(id, content) {
      calls.push(`settled ${id}`)
      contents.set(id, content)
    },
    outcome(outcome) {
      calls.push('outcome')
      outcomes.push(outcome)
    },
    redirect(redirect) {
      calls.push('redirect')
      redirects.push(redirect)
    },
    ...overrides,
  }
  const failed: unknown = await readRouteData(stream, sink).then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('Rejected with nothing'),
  )
  return { head, segments, contents, outcomes, redirects, calls, failed }
}
