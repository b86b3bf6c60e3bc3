import {
  REFUSAL_STATUS,
  RedirectSignal,
  RefusalSignal,
  type RedirectStatus,
  type RefusalKind,
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

/**
 * Judges a thrown value. Logs and reports nothing: `reportFailure` does. A digest is not believed: an application may copy
 * what visitors send onto an error, and React hands the signals themselves back on the server.
 */
export function judgeThrown(met: unknown): JudgedThrown {
  const thrown = normalizeThrown(met)
  if (thrown instanceof RedirectSignal) {
    const location = safeLocation(thrown.to, thrown)
    return location === undefined
      ? judgeFailure(new UnsafeRedirectError(thrown))
      : { kind: 'redirect', signal: thrown, status: thrown.status, location }
  }
  if (thrown instanceof RefusalSignal) {
    return { kind: 'refusal', signal: thrown, refusal: thrown.kind, status: REFUSAL_STATUS[thrown.kind] }
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
