import { findBoundary } from '../../../client/react/find-boundary.ts'
import { controlFlowOf, REFUSAL_STATUS, RedirectSignal } from '../../../shared/control-flow.ts'
import type { BoundaryKind } from '../../../shared/route-definition.ts'
import type { SegmentMeta, SegmentValues } from '../../../shared/protocol/route-data.ts'
import type { SegmentEntry } from '../../../shared/route-table.ts'
import { safeLocation } from '../../../shared/safe-location.ts'
import type { Deferrable } from '../load/deferred.ts'
import { refuseLostValues } from '../load/lost-value-error.ts'
import type { RunningLoaders, StartedSegment } from '../load/start-loaders.ts'
import { type FailurePlace } from '../../request/request-reporter.ts'
import { failureStatus, reportFailure, retryHeaders } from '../../request/answer/failure.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { UnsafeRedirectError } from '../../request/answer/unsafe-redirect.ts'
import type { RequestContext } from '../../request/context.ts'
import { createDataAnswer, redirectTo, type DataAnswer, type Head } from './data-answer.ts'

/** A page's data while its loaders run. */
export interface RunningPage {
  readonly head: Head
  readonly chain: readonly SegmentEntry[]
  /** Ids of the segments whose records are to be sent. */
  readonly wanted: ReadonlySet<string>
  readonly loaders: RunningLoaders
  /** Decides status and head before anything else; by default the first record does. */
  readonly opening?: ((answer: DataAnswer, head: Head) => void) | undefined
  /** No route answers the URL: once all loaders have succeeded, this entry of the chain shows that. The status is 404. */
  readonly notFoundAt?: number
}

/** What must be known of a segment by those inside of it. */
interface Outside {
  readonly guards: boolean
  /** Whether its loader has succeeded; by then its record is written. */
  readonly succeeded: Promise<boolean>
}

const NO_META: SegmentMeta = {}

/**
 * Sends the segments as their loaders finish. A record waits for the guards outside of it, a verdict for everything
 * outside of it: so the outermost verdict is the one that counts, as in the document.
 * @returns when the answer is over.
 */
export async function deliverSegments(page: RunningPage, context: RequestContext): Promise<void> {
  const { notFoundAt } = page
  const status = notFoundAt === undefined ? 200 : REFUSAL_STATUS.notFound
  const { segments, timings } = page.loaders
  let pending = segments.length
  let deferred = false
  let stopped = false
  const answer = createDataAnswer(context, { timings, isWhole: () => pending === 0 && !deferred && !stopped })
  page.opening?.(answer, page.head)

  async function deliver(segment: StartedSegment, outside: readonly Outside[]): Promise<boolean> {
    try {
      const result = await segment.result
      pending -= 1
      deferred ||= result.deferred
      if (!page.wanted.has(segment.id)) return true
      if (!(await haveSucceeded(outside.filter(({ guards }) => guards))) || stopped) return true
      const values = valuesOf(segment, result)
      if (!answer.isOpen()) answer.open(status, page.head)
      answer.segment(segment.id, values, segment.facts.meta(context) ?? NO_META)
      return true
    } catch (thrown) {
      if (!(await haveSucceeded(outside))) return false
      stopped = true
      sendVerdict(thrown, segment.boundaryFrom, page.chain, page.head, answer, context)
      return false
    }
  }

  const started: Outside[] = []
  for (const segment of segments) {
    started.push({ guards: segment.guards, succeeded: deliver(segment, started.slice()) })
  }
  // It ends with the verdict: what lies inside may still be running, and nobody waits for it.
  const succeeded = await haveSucceeded(started)
  if (context.aborted?.cause === 'gone') return
  if (!answer.isOpen()) answer.open(status, page.head)
  if (succeeded && notFoundAt !== undefined) answer.outcome({ kind: 'notFound', at: notFoundAt })
  await answer.finish()
}

async function haveSucceeded(segments: readonly Outside[]): Promise<boolean> {
  for (const { succeeded } of segments) if (!(await succeeded)) return false
  return true
}

/** @throws {LostValueError} outside production, for what would not arrive as it is. */
function valuesOf({ id, search }: StartedSegment, { value }: Deferrable): SegmentValues {
  refuseLostValues({ [id]: value })
  return {
    ...(value === undefined ? {} : { data: value }),
    ...(search === undefined ? {} : { search: search.value }),
  }
}

/**
 * Says what stands in the page's place. Failures are logged here.
 * @param boundaryFrom where in the chain the search for a fallback starts.
 */
export function sendVerdict(
  thrown: unknown,
  boundaryFrom: number,
  chain: readonly SegmentEntry[],
  head: Head,
  answer: DataAnswer,
  context: RequestContext,
  place: FailurePlace = 'loader',
): void {
  if (context.aborted?.cause === 'gone') return
  const signal = controlFlowOf(thrown)
  if (signal !== undefined && !(signal instanceof RedirectSignal)) {
    return sendOutcome(signal.kind, REFUSAL_STATUS[signal.kind])
  }
  if (signal === undefined) return sendFailure(thrown, boundaryFrom)

  const location = safeLocation(signal.to, signal)
  if (location === undefined) return sendFailure(new UnsafeRedirectError(signal), chain.length - 1)
  const redirect = redirectTo(location)
  if (answer.isOpen()) answer.redirect(redirect)
  else answer.open(200, { redirect })

  function sendFailure(failure: unknown, from: number): void {
    const digest = reportFailure(failure, context, place)
    const { status, retryAfter } = failureStatus(failure)
    sendOutcome('error', status, { from, digest, headers: retryHeaders(retryAfter) })
  }

  function sendOutcome(
    kind: BoundaryKind,
    status: number,
    { from = boundaryFrom, digest, headers = [] }: { from?: number; digest?: string; headers?: HeaderList } = {},
  ): void {
    const at = findBoundary(chain, kind, from)
    if (at === undefined) {
      if (answer.isOpen()) answer.breakOff()
      else answer.open(status, { document: true }, headers)
      return
    }
    if (!answer.isOpen()) answer.open(status, head, headers)
    answer.outcome({ kind, at, ...(digest === undefined ? {} : { digest }) })
  }
}
