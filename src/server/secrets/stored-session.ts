import type { Session } from './define-session.ts'

/** One of the sessions of a user. */
export interface SessionDevice {
  /** For `end`; it stays when the session gets a new id. It signs nobody in, so a page may contain it. */
  readonly id: string
  /** Whether this request has it. */
  readonly isCurrent: boolean
  /** Time of signing in, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Last use, in milliseconds since the epoch, to the minute. */
  readonly seenAt: number
  /** The browser's `User-Agent` at sign-in, at most 200 characters. It can contain anything. */
  readonly userAgent: string
}

/**
 * A session that is kept on the server. Members that change something may fail with an {UnavailableError}. So does reading it for
 * some seconds after another request of this browser has called `rotate()`, until the browser has the new cookie.
 */
export interface StoredSession<Data> extends Session<Data> {
  /**
   * Starts the session, or replaces its data. For a different user, it starts a new session with a new id and
   * ends the previous one.
   * @throws {TypeError} for data that the schema refuses; {RangeError} for data above `maxDataBytes`.
   * @throws {RefusalSignal} of `unauthorized()` if the session was ended meanwhile.
   */
  set(data: Data): Promise<void>
  /** Does nothing: each use renews the idle time, and nothing renews the age. */
  renew(): Promise<void>
  /**
   * Ends the session everywhere. Await it: the session has ended when the promise settles. The cookie is deleted even if the
   * store is unavailable.
   */
  clear(): Promise<void>
  /**
   * Gives the session a new id. Call it when the user gets more rights: copies of the old cookie become worthless.
   * @throws {RefusalSignal} of `unauthorized()` if the session was ended meanwhile.
   */
  rotate(): Promise<void>
  /** All sessions of this user, most recently seen first; empty without a session. */
  devices(): Promise<readonly SessionDevice[]>
  /** Ends one of this user's sessions. @returns whether there was one. */
  end(id: string): Promise<boolean>
  /** Ends all of this user's sessions except this one. @returns their number. */
  endOthers(): Promise<number>
}
