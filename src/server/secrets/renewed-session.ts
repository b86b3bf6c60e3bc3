import { UnavailableError } from '../http/unavailable-error.ts'

/** Until the browser has the new cookie of a session, in milliseconds: the answer that brings it may take a while. */
export const RENEWAL_MS = 10_000

/**
 * The session of a request has just got a new id by another request of its browser, which is about to get the cookie: the router
 * tries again then. No failure of the application, so it is neither logged as one nor reported.
 */
export class RenewedSession extends UnavailableError {
  /** Whether it was met by asking whose the session is, which comes first, and not by changing it. */
  readonly isAtRead: boolean

  /** @param since of the new id, in milliseconds, where it was met at a read: the four tries of the router are spread over `RENEWAL_MS`. */
  constructor(since?: number) {
    const sinceMs = since ?? 0
    const left = Math.max(1, Math.ceil((RENEWAL_MS - sinceMs) / 1_000))
    super('The session has just got a new id', { retryAfter: sinceMs < 1_000 ? 1 : sinceMs < 3_000 ? 2 : left })
    this.isAtRead = since !== undefined
  }
}
