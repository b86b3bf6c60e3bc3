import { hash } from 'node:crypto'
import type { Schema } from '../../shared/schema.ts'
import type { KeptSession, SessionStore } from '../stores/session-store.ts'
import { checkData } from './define-session.ts'
import { RENEWAL_MS, RenewedSession } from './renewed-session.ts'
import { sealedCookieName, type SessionContext } from './sealed-cookie.ts'

const COOKIE = /^[\w-]{43}$/ // 32 bytes in base64url; anything else is not looked up
const SEEN_EVERY_MS = 60_000 // a write for each request would cost more than the precision is worth
const SEEN_SHARE = 10 // of the idle time, if that is shorter

/** Options of a kind, checked and complete. */
export interface StoredSessionRules<Data> {
  readonly name: string
  readonly schema: Schema<Data>
  /** Key of a user in the store. */
  readonly userKey: (data: Data) => string
  readonly maxAgeMs: number
  readonly idleMs: number
  readonly sessionsPerUser: number
  readonly maxDataBytes: number
  /** ms since the epoch. */
  readonly now: () => number
}

/** A session that can be read. */
export interface CurrentSession<Data> {
  readonly kept: KeptSession
  readonly value: Data
}

/** What the cookie of a request opens. Without a value, another build has written what this one does not take. */
export type FoundSession<Data> = CurrentSession<Data> | Pick<CurrentSession<Data>, 'kept'> | RenewedSession | undefined

/** Reads the session of a request. */
export async function readStoredSession<Data>(
  context: SessionContext,
  store: SessionStore,
  rules: StoredSessionRules<Data>,
): Promise<FoundSession<Data>> {
  const { schema } = rules
  const id = sentId(context, rules.name)
  if (id === undefined) return undefined
  const now = rules.now()
  const kept = await store.read(id, now)
  if (kept === undefined) return renewalOf(id, store, now)
  if (endOf(kept, rules) <= now) return undefined
  const checked = await checkData(schema, JSON.parse(kept.data))
  return 'value' in checked ? { kept, value: checked.value } : { kept }
}

/**
 * What a session is if another request of the browser has just given it a new id: the answer with its cookie may still be on its
 * way. The former one opens nothing, because a thief may have sent it; but its user has not left.
 */
export async function renewalOf(id: string, store: SessionStore, now: number): Promise<RenewedSession | undefined> {
  const { at = -Infinity } = (await store.rotationOf(id, now)) ?? {}
  if (now - at >= RENEWAL_MS || (await store.stateOf(id, now)) !== 'rotated') return undefined
  return new RenewedSession(now - at)
}

/** Id of the session that the browser has sent. */
export function sentId(context: SessionContext, name: string): string | undefined {
  const cookie = sealedCookieName(name, context)
  const secret = context.cookie(cookie)
  return secret === undefined || !COOKIE.test(secret) ? undefined : storedSessionId(cookie, secret)
}

/** The lifetimes of this build count, also for sessions that a former one has started. */
export function endOf(
  kept: KeptSession,
  { maxAgeMs, idleMs }: Pick<StoredSessionRules<unknown>, 'maxAgeMs' | 'idleMs'>,
): number {
  return Math.min(kept.expiresAt, kept.startedAt + maxAgeMs, kept.seenAt + idleMs)
}

/** Notes it at most once a minute, and waits for nothing. */
export function noteUse<Data>(
  session: KeptSession,
  store: SessionStore,
  { now, idleMs, maxAgeMs }: StoredSessionRules<Data>,
): void {
  const { startedAt, seenAt } = session
  const at = now()
  if (at - seenAt < Math.min(SEEN_EVERY_MS, idleMs / SEEN_SHARE)) return
  const expiresAt = Math.min(at + idleMs, startedAt + maxAgeMs)
  // The next request notes it again.
  store.touch(session, { seenAt: at, expiresAt }).catch(() => undefined)
}

/** Id of a session by its cookie. Bound to the cookie's name, so that the id of one kind is not one of another. */
export function storedSessionId(cookie: string, secret: string): string {
  return hash('sha256', `${cookie} ${secret}`, 'base64url')
}
