import { randomBytes } from 'node:crypto'
import { stringifySetCookie } from 'cookie'
import { basePath } from '../../shared/base-path.ts'
import { ApplicationSecrets } from './application-secrets.ts'
import type { SessionStore } from '../stores/session-store.ts'
import type { Secrets } from './secrets.ts'
import type { SessionLife } from './session-life.ts'

/** Browsers silently drop a larger cookie. RFC 6265bis requires this much for name and value together. */
const COOKIE_LIMIT_BYTES = 4_096

const MARK_BYTES = 6 // tells sessions of one browser apart

/** A kind of session, whatever its data. */
export interface OpensSessions {
  open(context: SessionContext): Promise<unknown>
}

/** The parts of a request that sessions use. */
export interface SessionContext {
  readonly secrets: Secrets
  /** Headers of the answer; still unsent when a session changes. */
  readonly headers: Headers
  /** Set for a prefetched answer: it may never be shown, so it takes no flash message. */
  readonly prefetch?: boolean
  /**
   * The same in a function `visitor`, where the session's own look at it decides nothing that is shown.
   * @internal
   */
  readonly isPrefetch?: boolean
  /**
   * Set if the answer has begun: nothing is renewed, and no flash message is taken.
   * @internal
   */
  readonly hasBegun?: boolean
  /** `false` if the browser would drop a `Secure` cookie; see `keepsSecureCookies`. */
  readonly secureCookies?: boolean
  /** Clock of the server, in ms since the epoch; default: the system's. */
  now?(): number
  /**
   * Told before a session of a kind is opened.
   * @returns what takes the place of the session, if none is opened.
   * @internal
   */
  lookAtSession?(kind: OpensSessions): Promise<never> | undefined
  /**
   * Told about a session that is being opened, before its opener waits for it.
   * @internal
   */
  noteOpening?(opening: Promise<unknown>): void
  /** Value of a cookie in the request. */
  cookie(name: string): string | undefined
  /**
   * Sessions kept on the server; opened on first use.
   * @internal
   */
  readonly sessionStore?: SessionStore
  /** Of the client; for sessions kept on the server. */
  readonly address?: string
  /** The browser's `User-Agent`; empty without one. */
  readonly userAgent?: string
  /**
   * Tells the browser for which session this answer was made; see `session-marks.ts`.
   * @internal
   */
  noteSession?(name: string, mark: string, life: SessionLife): void
}

/** A cookie that is too large for browsers. */
export class CookieSizeError extends RangeError {
  override readonly name = 'CookieSizeError'
  readonly cookie: string
  /** Maximum bytes of a cookie, with its name and attributes. */
  readonly limit: number
  /** Bytes that it would have. */
  readonly actual: number

  constructor(cookie: string, actual: number) {
    super(
      `The cookie ${cookie} would have ${actual} bytes, but browsers keep only ${COOKIE_LIMIT_BYTES}: ` +
        'store an id in it, and the rest in a database',
    )
    this.cookie = cookie
    this.limit = COOKIE_LIMIT_BYTES
    this.actual = actual
  }
}

/** Result of checking a parsed value: the value, or its fault. */
export type Checked<Value> = { readonly value: Value } | { readonly fault: string }

/** Options of a sealed cookie. */
interface SealedCookieOptions<Value> {
  /** With its prefix; the text is bound to this name. */
  readonly name: string
  readonly maxAgeSeconds: number
  /** Validates values from browsers and from our own code. */
  readonly check: (stored: unknown) => Promise<Checked<Value>>
  /** ms since the epoch. */
  readonly now: () => number
  /** The mark of a new value; `undefined` for one that keeps the former's, or gets a random one. */
  readonly markOf?: (value: Value, former: Value | undefined) => string | undefined
}

interface Kept<Value> {
  /** As parsed from JSON. */
  readonly stored: unknown
  readonly value: Value
  /** ms since the epoch. */
  readonly writtenAt: number
  /** The same from the first value to the last before it is erased, unless `markOf` gives another. */
  readonly mark: string | undefined
}

/**
 * One encrypted cookie during one request. Reading never writes: a slow answer must not restore what another answer has
 * changed.
 */
export class SealedCookie<Value> {
  readonly #context: SessionContext
  readonly #options: SealedCookieOptions<Value>
  #kept: Kept<Value> | undefined = undefined
  #changes = 0
  #lastApplied = 0

  private constructor(context: SessionContext, options: SealedCookieOptions<Value>) {
    this.#context = context
    this.#options = options
  }

  /**
   * Reads the cookie of the request; a foreign, altered or expired one, or one that `check` refuses, counts as missing.
   */
  static async open<Value>(context: SessionContext, options: SealedCookieOptions<Value>): Promise<SealedCookie<Value>> {
    const cookie = new SealedCookie(context, options)
    const text = context.cookie(options.name)
    if (text) await cookie.#read(text)
    return cookie
  }

  /** The runtime's own: a text that an application encrypts can never be a session. */
  get #secrets(): Secrets {
    return ApplicationSecrets.runtimeOf(this.#context.secrets)
  }

  /** `undefined` without such a cookie. */
  get value(): Value | undefined {
    return this.#kept?.value
  }

  /** Random unless `markOf` gives it, and new with the first value: tells values apart between which there was none. */
  get mark(): string | undefined {
    return this.#kept?.mark
  }

  /** Seconds since it was written; 0 without one. */
  get ageSeconds(): number {
    return this.#kept === undefined ? 0 : (this.#options.now() - this.#kept.writtenAt) / 1_000
  }

  /**
   * Encrypts and writes a new value. Of several changes, the one that started last wins, in whatever order they finish.
   * @throws {TypeError} for a value that JSON or `check` refuses.
   * @throws {CookieSizeError}
   */
  async write(value: unknown): Promise<void> {
    const change = ++this.#changes
    const { name, maxAgeSeconds, now, markOf } = this.#options
    const stored = asJson(value)
    const checked = await this.#options.check(stored)
    if ('fault' in checked) throw new TypeError(`The cookie ${name} cannot keep this value: ${checked.fault}`)
    const writtenAt = now()
    const given = markOf?.(checked.value, this.#kept?.value)
    const mark = given ?? this.#kept?.mark ?? randomBytes(MARK_BYTES).toString('base64url')
    const text = await this.#secrets.encrypt(purposeOf(name), [writtenAt, stored, mark], maxAgeSeconds)
    const line = cookieLine(name, text, maxAgeSeconds)
    // Some browsers count the attributes too. The line is ASCII.
    if (line.length > COOKIE_LIMIT_BYTES) throw new CookieSizeError(name, line.length)
    this.#apply(change, line, { stored, value: checked.value, writtenAt, mark })
  }

  /** Writes the same value with a full lifetime; does nothing without one. */
  async rewrite(): Promise<void> {
    if (this.#kept !== undefined) await this.write(this.#kept.stored)
  }

  /** Deletes the cookie in the browser. */
  erase(): void {
    this.#apply(++this.#changes, cookieLine(this.#options.name, '', 0), undefined)
  }

  async #read(text: string): Promise<void> {
    const opened = await this.#secrets.decrypt(purposeOf(this.#options.name), text)
    if (!Array.isArray(opened)) return
    const [writtenAt, stored, mark] = opened as [number, unknown, string?]
    const checked = await this.#options.check(stored)
    if ('value' in checked) this.#kept = { stored, value: checked.value, writtenAt, mark }
  }

  #apply(change: number, line: string, kept: Kept<Value> | undefined): void {
    if (change < this.#lastApplied) return
    this.#lastApplied = change
    this.#kept = kept
    replaceCookie(this.#context.headers, this.#options.name, line)
  }
}

/** `__Host-` requires `Secure`, `Path=/` and no `Domain` (RFC 6265bis): no other host can set or shadow the cookie. */
const HOST_PREFIX = '__Host-'

/** Not allowed in base paths and names of sessions, but in names of cookies (RFC 9110, section 5.6.2). */
const BASE_END = '~'

/**
 * Start of the names of all our cookies, behind `__Host-`: that prefix requires `Path=/`, so applications of one host get
 * each other's cookies.
 */
export function cookieBase(): string {
  const base = basePath().slice(1).replaceAll('/', BASE_END)
  return base === '' ? '' : base + BASE_END
}

/** Name of a cookie in the browser of a request. */
export function sealedCookieName(
  name: string,
  { secureCookies = true }: Pick<SessionContext, 'secureCookies'>,
): string {
  const own = cookieBase() + name
  return secureCookies ? HOST_PREFIX + own : own
}

function purposeOf(cookie: string): string {
  return `cookie ${cookie}`
}

/** Sets a cookie; an answer has one header for each. */
export function replaceCookie(headers: Headers, name: string, line: string): void {
  const others = headers.getSetCookie().filter((other) => !other.startsWith(`${name}=`))
  headers.delete('Set-Cookie')
  for (const other of [...others, line]) headers.append('Set-Cookie', other)
}

/** @param maxAge seconds; 0 deletes the cookie. */
export function cookieLine(name: string, value: string, maxAge: number): string {
  const secure = name.startsWith(HOST_PREFIX)
  return stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, secure, sameSite: 'lax' })
}

/** The value as the next request will parse it. */
function asJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) throw new TypeError('A session cannot keep undefined: clear() ends it')
  return JSON.parse(text)
}
