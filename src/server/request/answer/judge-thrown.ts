import {
  controlFlowOf,
  REFUSAL_STATUS,
  RedirectSignal,
  type RedirectStatus,
  type RefusalKind,
  type RefusalSignal,
} from '../../../shared/control-flow.ts'
import { safeLocation } from '../../../shared/safe-location.ts'
import { UnavailableError } from '../../api/unavailable-error.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { normalizeThrown } from './normalize-thrown.ts'
import { UnsafeRedirectError } from './unsafe-redirect.ts'

/**
 * What a thrown value means for an answer. Documents, data, forms, calls, resources and middleware all judge by this:
 * a redirect with a location that may be sent, a refusal with its status, or a failure.
 */
export type JudgedThrown = JudgedRedirect | JudgedRefusal | JudgedFailure

/** A redirect to a path of this site, or to another site where its author allowed that. */
export interface JudgedRedirect {
  readonly kind: 'redirect'
  readonly signal: RedirectSignal
  readonly status: RedirectStatus
  /** May be sent as `Location`. */
  readonly location: string
}

/** `notFound()`, `forbidden()` or `unauthorized()`. */
export interface JudgedRefusal {
  readonly kind: 'refusal'
  readonly signal: RefusalSignal
  readonly refusal: RefusalKind
  readonly status: (typeof REFUSAL_STATUS)[RefusalKind]
}

/** Anything else. */
export interface JudgedFailure {
  readonly kind: 'failure'
  /** As `normalizeThrown` gives it; of a redirect that must not be sent, an `UnsafeRedirectError`. */
  readonly thrown: unknown
  /** 503 for an `UnavailableError`. */
  readonly status: 500 | 503
  /** Seconds. */
  readonly retryAfter?: number | undefined
}

/** Judges a thrown value. Logs and reports nothing: `reportFailure` does. */
export function judgeThrown(met: unknown): JudgedThrown {
  const thrown = normalizeThrown(met)
  const signal = controlFlowOf(thrown)
  if (signal instanceof RedirectSignal) {
    const location = safeLocation(signal.to, signal)
    return location === undefined
      ? judgeFailure(new UnsafeRedirectError(signal))
      : { kind: 'redirect', signal, status: signal.status, location }
  }
  if (signal !== undefined) {
    return { kind: 'refusal', signal, refusal: signal.kind, status: REFUSAL_STATUS[signal.kind] }
  }
  return judgeFailure(thrown)
}

/** Judges what counts as a failure even where it is control flow: a refusal thrown by the page that shows failures. */
export function judgeFailure(thrown: unknown): JudgedFailure {
  return thrown instanceof UnavailableError
    ? { kind: 'failure', thrown, status: 503, retryAfter: thrown.retryAfter }
    : { kind: 'failure', thrown, status: 500 }
}

/** `Retry-After`, where the failure says when to try again. */
export function retryHeaders({ retryAfter }: Pick<JudgedFailure, 'retryAfter'>): HeaderList {
  return retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]
}
