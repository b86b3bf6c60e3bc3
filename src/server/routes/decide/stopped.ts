import { findBoundary } from '../../../client/react/find-boundary.ts'
import type { ViewSegment } from '../../../client/react/route-view.ts'
import { RefusalSignal } from '../../../shared/control-flow.ts'
import type { RouteDataRedirect } from '../../../shared/protocol/route-data.ts'
import type { BoundaryKind } from '../../../shared/route-definition.ts'
import { errorDigest, reportFailure } from '../../request/answer/failure.ts'
import {
  judgeFailure,
  judgeThrown,
  type JudgedFailure,
  type JudgedRedirect,
} from '../../request/answer/judge-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import type { FailurePlace } from '../../request/request-reporter.ts'
import type { MatchedRoute } from './decision.ts'

/** Why a page cannot be shown. */
export interface Stopped {
  readonly thrown: unknown
  /** Index in the chain where the search for a fallback starts. */
  readonly boundaryFrom: number
  /** Where it was thrown, for the log. Default: a loader. */
  readonly place?: FailurePlace
  /** Segment id of that loader. */
  readonly loader?: string
  /** Thrown by a page that shows failures: a failure, whatever it is. Otherwise two pages could show each other forever. */
  readonly isFailure?: boolean
}

/** What is sent instead of a page. */
type Replacement = JudgedRedirect | ShownFallback

/** The fallback that a document renders, and that data names. */
export interface ShownFallback extends Pick<JudgedFailure, 'retryAfter'> {
  readonly kind: 'fallback'
  readonly status: number
  readonly boundary: BoundaryKind
  /** Index in the chain of the entry that has it; `undefined` if none has one. */
  readonly at: number | undefined
  /** Identifies the failure; absent for a refusal. */
  readonly digest?: string
}

const NOT_FOUND: Stopped = { thrown: new RefusalSignal('notFound'), boundaryFrom: 0 }

/** What stops a page whatever its loaders return: that no route answers the URL. */
export function stoppedByUrl({ kind }: MatchedRoute): Stopped | undefined {
  return kind === 'none' ? NOT_FOUND : undefined
}

/** A location that is safe to send, in the form of the protocol. */
export function redirectTo(location: string): RouteDataRedirect {
  return location.startsWith('/') ? { to: location } : { to: location, external: true }
}

/**
 * The answer is something other than the page. The page's inner loaders may still run; they are aborted with the answer,
 * because nothing counts them any more.
 */
export function endWithAnswer(context: RequestContext): void {
  const { res } = context
  res.once('finish', () => context.abort('gone'))
}

/** Decides what is sent instead of a page that was stopped, and reports a failure. */
export function replacementOf(
  { thrown, boundaryFrom, place = 'loader', loader, isFailure }: Stopped,
  chain: readonly ViewSegment[],
  context: RequestContext,
): Replacement {
  const met = judgeThrown(thrown)
  const judged = met.kind === 'refusal' && isFailure === true ? judgeFailure(thrown) : met
  if (judged.kind === 'redirect') return judged
  const { kind, status } = judged
  const boundary = kind === 'failure' ? 'error' : judged.refusal
  const at = findBoundary(chain, boundary, boundaryFrom)
  if (kind === 'refusal') return { kind: 'fallback', status, boundary, at }
  // Most are already reported. An unsafe redirect is discovered here.
  reportFailure(judged.thrown, context, place, loader)
  return { kind: 'fallback', status, boundary, at, digest: errorDigest(judged.thrown), retryAfter: judged.retryAfter }
}
