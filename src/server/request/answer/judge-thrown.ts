import {
  REFUSAL_STATUS,
  RedirectSignal,
  RefusalSignal,
  type RedirectStatus,
  type RefusalKind,
} from '../../../shared/control-flow.ts'
import { withoutUrlSecrets } from '../../../shared/reports/url-secrets.ts'
import { safeLocation } from '../../../shared/safe-location.ts'
import { UnavailableError } from '../../http/unavailable-error.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { isLocked } from '../../stores/opening-fault.ts'
import { normalizeThrown } from './normalize-thrown.ts'

const LOCKED_RETRY_SECONDS = 2 // a migration of large tables takes seconds

/**
 * What a thrown value means for an answer: a redirect with a safe location, a refusal with its status, or a failure.
 * Documents, data, forms, calls, resources and middleware all use this.
 */
export type JudgedThrown = JudgedRedirect | JudgedRefusal | JudgedFailure

/** A redirect to a path of this site, or to another site if its author allowed that. */
export interface JudgedRedirect {
  readonly kind: 'redirect'
  readonly signal: RedirectSignal
  readonly status: RedirectStatus
  /** Safe to send as `Location`. */
  readonly location: string
}

/** `notFound()`, `forbidden()` or `unauthorized()`. */
interface JudgedRefusal {
  readonly kind: 'refusal'
  readonly signal: RefusalSignal
  readonly refusal: RefusalKind
  readonly status: (typeof REFUSAL_STATUS)[RefusalKind]
}

/** Anything else. */
export interface JudgedFailure {
  readonly kind: 'failure'
  /** As `normalizeThrown` returns it; for an unsafe redirect, an `UnsafeRedirectError`. */
  readonly thrown: unknown
  /** 503 for an `UnavailableError`, and for an SQLite file that another process has locked. */
  readonly status: 500 | 503
  /** Seconds. */
  readonly retryAfter?: number | undefined
}

/**
 * Judges a thrown value. Does not log or report; `reportFailure` does. Digests are not trusted: an application may copy
 * visitors' input onto an error, and on the server React returns the signals themselves.
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

/**
 * Judges a value that is always a failure, even if it is control flow: a refusal thrown by the page that shows
 * failures.
 */
export function judgeFailure(thrown: unknown): JudgedFailure {
  if (thrown instanceof UnavailableError) return { kind: 'failure', thrown, status: 503, retryAfter: thrown.retryAfter }
  if (isLocked(thrown)) return { kind: 'failure', thrown, status: 503, retryAfter: LOCKED_RETRY_SECONDS }
  return { kind: 'failure', thrown, status: 500 }
}

/** `Retry-After`, if the failure states a time. */
export function retryHeaders({ retryAfter }: Pick<JudgedFailure, 'retryAfter'>): HeaderList {
  return retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]
}

/**
 * A redirect to an invalid URL, or to another site without permission. Its stack shows where the redirect was thrown. Most
 * targets are from visitors, so its message has none of their secrets.
 */
class UnsafeRedirectError extends Error {
  override readonly name = 'UnsafeRedirectError'

  constructor({ to, stack = '' }: Pick<RedirectSignal, 'to' | 'stack'>) {
    const [target = ''] = to.slice(0, 200).split(/[?#]/, 1)
    const shown = JSON.stringify(withoutUrlSecrets(target))
    super(`redirect() was refused to send the visitor to ${shown}: it is not a path of this site`)
    const frames = stack.indexOf('\n    at ')
    // Equal for equal signals, so that a repeated one is one failure.
    this.stack = `${this.name}: ${this.message}${frames === -1 ? '' : stack.slice(frames)}`
  }
}
