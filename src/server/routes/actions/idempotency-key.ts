import { hash } from 'node:crypto'
import { parseSetCookie } from 'cookie'
import type { RequestContext } from '../../request/context.ts'
import { clientKey } from '../../http/client-key.ts'
import { cookieBase } from '../../secrets/sealed-cookie.ts'
import { mayBeSession, SHORTEST_SECRET } from './no-session-cookies.ts'
import type { DeclaredAction } from './action.ts'
import type { ReceivedCall } from './read-call.ts'

/** 128 random bits, as the router of the browser makes them for each call: nobody else knows them. Nearly all are that long. */
const RANDOM = /^(?=.{28})\d{1,10}(?:-\d{1,10}){3}$/

/** The keys that identify a call. */
export interface IdempotencyKey {
  /** Of the call as it was sent. */
  readonly sent: string
  /** Of the call whatever cookies it is sent with: nobody may get an outcome by it alone. */
  readonly content: string
  /** Whether the router repeats the call by itself. The form of a document is sent again by a visitor, who wants it now. */
  readonly isOfRouter: boolean
  /**
   * Key of the same call as the document's form: the visitor may have pressed it before the router has started, and once
   * more since, while the browser waits for the answer.
   */
  readonly asForm?: IdempotencyKey
  /**
   * Key of the same call when a browser repeats it with the cookies of the answer: a first call may start a session,
   * and its repetition then carries the session cookie.
   * @param setCookies the answer's `Set-Cookie` headers.
   * @param now milliseconds since the epoch: a cookie that expires before it is deleted.
   */
  repeated(setCookies: readonly string[], now: number): string
}

/**
 * Identifies a call, so that it runs once: a hash of the client's own key and of the input, and for the form of a document
 * of the visitor's session cookies as sent. The key of a document is not a secret, the next user of the browser may send it
 * again after Back, and the outcome of a call may set a cookie, which nobody else may get. The router's own key is one, and
 * cookies may change before the call is repeated: those of balancers and analytics, and a basket in another tab.
 *
 * The address is left out, because it changes with the network, except for a document's form from a visitor without a
 * cookie that could be a secret: a cache that keeps the document against our word gives the document's key to strangers.
 * @returns `undefined` for a call without a client key, and for one that cannot be compared.
 */
export async function idempotencyKey(
  { id, definition }: DeclaredAction,
  { sentKey, formKey, input, leading, form }: ReceivedCall,
  { clientAddress, data, req }: Pick<RequestContext, 'clientAddress' | 'data' | 'req'>,
): Promise<IdempotencyKey | undefined> {
  if (sentKey === undefined) return undefined
  // A script makes a key for each call; a document has one key for all its forms, and files that are still unread
  // cannot be compared.
  if (data === undefined && definition.upload !== undefined) return undefined
  const files = await fileHashes(form)
  const identify = (key: string, isOfRouter: boolean): IdempotencyKey => {
    const isSecret = isOfRouter && RANDOM.test(key)
    const cookie = isSecret ? undefined : req.headers.cookie
    const keyOf = (cookies: readonly string[]): string => {
      const isKnown = isOfRouter || cookies.some((each) => valueOf(each).length >= SHORTEST_SECRET)
      const client = isKnown ? '' : clientKey(clientAddress.address)
      return hashOf([id, key, client, cookies, input, leading, files])
    }
    const sent = keyOf(sessionCookies(cookie))
    return {
      content: hashOf([id, key, input, leading, files]),
      sent,
      isOfRouter,
      repeated: (setCookies, now) => (isSecret ? sent : keyOf(sessionCookies(withCookies(cookie, setCookies, now)))),
    }
  }
  const key = identify(sentKey, data !== undefined)
  const hasForm = formKey !== undefined && definition.upload === undefined
  return hasForm ? { ...key, asForm: identify(formKey, false) } : key
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
    .filter((cookie) => cookie !== '' && mayBeSession(plainName(cookie.split('=', 1)[0] ?? ''), valueOf(cookie)))
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
