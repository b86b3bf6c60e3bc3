import { hash } from 'node:crypto'
import { parseSetCookie } from 'cookie'
import type { RequestContext } from '../../request/context.ts'
import { clientKey } from '../../http/client-key.ts'
import { cookieBase } from '../../secrets/sealed-cookie.ts'
import type { DeclaredAction } from './action.ts'
import type { ReceivedCall } from './read-call.ts'

/**
 * Cookies that do not identify a session, and may change between a call and its repetition: analytics, flash messages,
 * CSRF tokens, and settings. Any other cookie may be a session's.
 */
const NO_SESSION = /^_(?!_(?:Host|Secure)-)|\.flash$|csrf|xsrf|consent|theme|lang|locale/i

/** A shorter value may be a setting that many visitors have. */
const SHORTEST_SECRET = 16 // characters

/** The keys that identify a call. */
export interface IdempotencyKey {
  /** Of the call as it was sent. */
  readonly sent: string
  /** Of the call whatever cookies it is sent with: nobody may get an outcome by it alone. */
  readonly content: string
  /**
   * Key of the same call when a browser repeats it with the cookies of the answer: a first call may start a session,
   * and its repetition then carries the session cookie.
   * @param setCookies the answer's `Set-Cookie` headers.
   * @param now milliseconds since the epoch: a cookie that expires before it is deleted.
   */
  repeated(setCookies: readonly string[], now: number): string
}

/**
 * Identifies a call, so that it runs once: a hash of the client's own key, of the visitor's session cookies as sent,
 * and of the input. The client's key alone is not a secret, and the outcome of a call may set a cookie, which nobody
 * else may get.
 *
 * The address is left out, because it changes with the network, except for a document's form from a visitor without a
 * cookie that could be a secret: a cache that keeps the document against our word gives the document's key to strangers.
 * A script makes a key for each call, which nobody else knows.
 * @returns `undefined` for a call without a client key, and for one that cannot be compared.
 */
export async function idempotencyKey(
  { id, definition }: DeclaredAction,
  { sentKey, input, leading, form }: ReceivedCall,
  { clientAddress, data, req }: Pick<RequestContext, 'clientAddress' | 'data' | 'req'>,
): Promise<IdempotencyKey | undefined> {
  if (sentKey === undefined) return undefined
  // A script makes a key for each call; a document has one key for all its forms, and files that are still unread
  // cannot be compared.
  if (data === undefined && definition.upload !== undefined) return undefined
  const files = await fileHashes(form)
  const { cookie } = req.headers
  const keyOf = (cookies: readonly string[]): string => {
    const isKnown = data !== undefined || cookies.some((cookie) => valueOf(cookie).length >= SHORTEST_SECRET)
    const client = isKnown ? '' : clientKey(clientAddress.address)
    return hashOf([id, sentKey, client, cookies, input, leading, files])
  }
  return {
    content: hashOf([id, sentKey, input, leading, files]),
    sent: keyOf(sessionCookies(cookie)),
    repeated: (setCookies, now) => keyOf(sessionCookies(withCookies(cookie, setCookies, now))),
  }
}

function hashOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/** A `Cookie` header after a browser has stored cookies. */
function withCookies(header = '', setCookies: readonly string[], now: number): string {
  const nameOf = (pair: string): string => pair.split('=', 1)[0]?.trim() ?? ''
  const jar = new Map(header.split(';').map((pair) => [nameOf(pair), pair]))
  for (const setCookie of setCookies) {
    const [pair = ''] = setCookie.split(';', 1)
    if (isDeleted(setCookie, now)) jar.delete(nameOf(pair))
    else jar.set(nameOf(pair), pair)
  }
  return [...jar.values()].join(';')
}

/** `Max-Age` has priority over `Expires` (RFC 6265, section 5.3). */
function isDeleted(setCookie: string, now: number): boolean {
  const { maxAge, expires } = parseSetCookie(setCookie)
  return maxAge === undefined ? expires !== undefined && expires.getTime() <= now : maxAge <= 0
}

function valueOf(cookie: string): string {
  return cookie.slice(cookie.indexOf('=') + 1)
}

/** As sent, sorted. */
function sessionCookies(header = ''): readonly string[] {
  return header
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '' && !NO_SESSION.test(plainName(cookie.split('=', 1)[0] ?? '')))
    .toSorted()
}

/** Without the base path, which may contain any word. */
function plainName(name: string): string {
  const prefix = `__Host-${cookieBase()}`
  return cookieBase() !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** JSON does not contain files. A file field that was left empty counts too, without a name and without bytes. */
function fileHashes(form: ReceivedCall['form']): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    (form?.fields ?? []).flatMap(([field, value]) =>
      typeof value === 'string'
        ? []
        : value.bytes().then((bytes) => [field, value.name, hash('sha256', bytes, 'base64url')]),
    ),
  )
}
