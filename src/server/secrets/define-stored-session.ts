import { hash } from 'node:crypto'
import type { SessionStore } from '../stores/session-store.ts'
import {
  checkAge,
  checkName,
  noted,
  type SessionContext,
  type SessionKind,
  type SessionOptions,
} from './define-session.ts'
import { openStoredSession } from './open-stored-session.ts'
import type { StoredSessionRules } from './read-stored-session.ts'
import type { StoredSession } from './stored-session.ts'
import { cookieBase } from './sealed-cookie.ts'
import { noteSession } from './session-reads.ts'

const DEFAULT_MAX_AGE_SECONDS = 30 * 86_400
const DEFAULT_IDLE_SECONDS = 14 * 86_400
const DEFAULT_SESSIONS_A_USER = 20 // browsers and devices of one person
const MOST_SESSIONS_A_USER = 1_000
const DEFAULT_DATA_BYTES = 4_096

/** Options of sessions that are kept on the server. */
export interface StoredSessionOptions<Data> extends Pick<SessionOptions<Data>, 'name' | 'schema'> {
  /** The user to whom a session belongs: an id that never changes. Sessions of one user can be listed and ended. */
  readonly user: (data: Data) => string
  /** Lifetime in seconds from signing in, however often the session is used: 1 to 400 days. Default: 30 days. */
  readonly maxAgeSeconds?: number | undefined
  /**
   * Seconds after which it ends if no request has opened it, counted to the minute. Prefetches do not count. Default: 14 days.
   */
  readonly idleSeconds?: number | undefined
  /** Sessions of one user; a further one ends the one that expires first. 1 to 1,000. Default: 20. */
  readonly sessionsPerUser?: number | undefined
  /** Bytes of the data as JSON. Default: 4,096. */
  readonly maxDataBytes?: number | undefined
}

/** A kind of session that is kept on the server. */
export interface StoredSessionKind<Data> extends SessionKind<Data> {
  /**
   * The session of a request: one object per request, shared by actions and loaders. Reads the store once a request,
   * and only with a cookie.
   * @throws {UnavailableError} 503, if the store cannot be read: nobody is signed in then.
   */
  open(context: SessionContext): Promise<StoredSession<Data>>
  /**
   * Ends all sessions of a user, for example after a reset of the password.
   * @param user as the option `user` names them.
   * @returns their number.
   */
  endAll(context: SessionContext, user: string): Promise<number>
}

/**
 * Declares a kind of session that is kept on the server: in `DATA_DIR`, or in Redis with `REDIS_URL`. The cookie holds a
 * random id only. Such a session can be ended from a different device, and is then invalid everywhere.
 * @param clock in ms since the epoch; default: the server's.
 * @throws {RangeError} for an invalid option.
 */
export function defineStoredSession<Data>(
  options: StoredSessionOptions<Data>,
  clock?: () => number,
): StoredSessionKind<Data> {
  const {
    name = 'session',
    maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS,
    idleSeconds = DEFAULT_IDLE_SECONDS,
    sessionsPerUser = DEFAULT_SESSIONS_A_USER,
    maxDataBytes = DEFAULT_DATA_BYTES,
  } = options
  const by = 'defineStoredSession'
  checkName(by, name)
  checkAge(`${by}: maxAgeSeconds`, maxAgeSeconds)
  checkAge(`${by}: idleSeconds`, idleSeconds)
  checkCount(`${by}: sessionsPerUser`, sessionsPerUser, MOST_SESSIONS_A_USER)
  checkCount(`${by}: maxDataBytes`, maxDataBytes, Number.MAX_SAFE_INTEGER)

  /** Applications of one host that share a store keep their users apart. */
  const keyOf = (user: string): string => {
    if (user === '') throw new TypeError(`${by}: the option user returned an empty text`)
    return hash('sha256', `${cookieBase()}${name} ${user}`, 'base64url')
  }
  const rules: Omit<StoredSessionRules<Data>, 'now'> = {
    name,
    schema: options.schema,
    userKey: (data) => keyOf(options.user(data)),
    maxAgeMs: maxAgeSeconds * 1_000,
    idleMs: idleSeconds * 1_000,
    sessionsPerUser,
    maxDataBytes,
  }
  const clockOf = (context: SessionContext): (() => number) => clock ?? (() => context.now?.() ?? Date.now())
  /** On the context: a weak map would keep each request alive too long. */
  const opened = Symbol(`millrace.session.${name}`)

  const kind: StoredSessionKind<Data> = {
    open(context: SessionContext & { [opened]?: Promise<StoredSession<Data>> }) {
      noteSession()
      const nobodys = context.lookAtSession?.(kind)
      if (nobodys !== undefined) return nobodys
      return (context[opened] ??= noted(
        context,
        openStoredSession(context, storeOf(context), { ...rules, now: clockOf(context) }),
      ))
    },
    async endAll(context, user) {
      const { ended } = await storeOf(context).endAll(keyOf(user), clockOf(context)())
      return ended
    },
  }
  return kind
}

function storeOf({ sessionStore }: SessionContext): SessionStore {
  if (sessionStore === undefined) {
    throw new TypeError('A stored session needs the context of a loader, handler or action')
  }
  return sessionStore
}

function checkCount(what: string, count: number, most: number): void {
  if (!Number.isSafeInteger(count) || count < 1 || count > most) {
    throw new RangeError(`${what} ${count} is not a whole number from 1 to ${most}`)
  }
}
