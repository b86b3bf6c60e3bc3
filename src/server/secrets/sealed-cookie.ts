import { stringifySetCookie } from 'cookie'
import { ApplicationSecrets } from './application-secrets.ts'
import type { Secrets } from './secrets.ts'

/** Browsers drop a larger cookie without a word. RFC 6265bis asks for this much of name and value together. */
export const COOKIE_LIMIT_BYTES = 4_096

/** What sessions need of a request. */
export interface SessionContext {
  readonly secrets: Secrets
  /** Headers of the answer; must still be open when a session changes. */
  readonly headers: Headers
  /** The answer is fetched ahead and may never be shown, so it takes no flash message. */
  readonly prefetch?: boolean
  /** `false` where the browser would drop a `Secure` cookie; see `keepsSecureCookies`. */
  readonly secureCookies?: boolean
  /** Value of a cookie of the request. */
  cookie(name: string): string | undefined
}

/** A cookie that browsers would not keep. */
export class CookieSizeError extends RangeError {
  override readonly name = 'CookieSizeError'
  readonly cookie: string
  /** Bytes that a cookie may have, with its name and attributes. */
  readonly limit: number
  /** Bytes that it would have. */
  readonly actual: number

  constructor(cookie: string, actual: number) {
    super(
      `The cookie ${cookie} would have ${actual} bytes, and browsers keep ${COOKIE_LIMIT_BYTES}: ` +
        'keep an id in it, and the rest in a database',
    )
    this.cookie = cookie
    this.limit = COOKIE_LIMIT_BYTES
    this.actual = actual
  }
}

/** What a check makes of a value that JSON has brought: its result, or what is wrong with it. */
export type Checked<Value> = { readonly value: Value } | { readonly fault: string }

/** How a sealed cookie is kept. */
export interface SealedCookieOptions<Value> {
  /** With its prefix; also binds the text to this cookie. */
  readonly name: string
  readonly maxAgeSeconds: number
  /** Decides what is accepted, from browsers and from our own code. */
  readonly check: (stored: unknown) => Promise<Checked<Value>>
  /** ms since the epoch. */
  readonly now: () => number
}

interface Kept<Value> {
  /** As JSON has it. */
  readonly stored: unknown
  readonly value: Value
  /** ms since the epoch. */
  readonly writtenAt: number
}

/**
 * One encrypted cookie during one request. Reading never writes: an answer that was on its way for long cannot bring
 * back what another answer has changed.
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

  /** Reads the cookie of the request; what is not ours, altered, too old or refused by `check` counts as none. */
  static async open<Value>(context: SessionContext, options: SealedCookieOptions<Value>): Promise<SealedCookie<Value>> {
    const cookie = new SealedCookie(context, options)
    const text = context.cookie(options.name)
    if (text) await cookie.#read(text)
    return cookie
  }

  /** The runtime's: no text that an application encrypts is a session. */
  get #secrets(): Secrets {
    return ApplicationSecrets.runtimeOf(this.#context.secrets)
  }

  /** `undefined` where there is no such cookie. */
  get value(): Value | undefined {
    return this.#kept?.value
  }

  /** Since it was written; 0 where there is none. */
  get ageSeconds(): number {
    return this.#kept === undefined ? 0 : (this.#options.now() - this.#kept.writtenAt) / 1_000
  }

  /**
   * Writes a new value, once it has been encrypted. Of several changes the one that was begun last counts, whichever is
   * ready first.
   * @throws {TypeError} for what JSON or `check` refuses.
   * @throws {CookieSizeError}
   */
  async write(value: unknown): Promise<void> {
    const change = ++this.#changes
    const { name, maxAgeSeconds, now } = this.#options
    const stored = asJson(value)
    const checked = await this.#options.check(stored)
    if ('fault' in checked) throw new TypeError(`The cookie ${name} cannot keep this value: ${checked.fault}`)
    const writtenAt = now()
    const text = await this.#secrets.encrypt(purposeOf(name), [writtenAt, stored], maxAgeSeconds)
    const line = cookieLine(name, text, maxAgeSeconds)
    // Some browsers count the attributes too. All of it is ASCII.
    if (line.length > COOKIE_LIMIT_BYTES) throw new CookieSizeError(name, line.length)
    this.#apply(change, line, { stored, value: checked.value, writtenAt })
  }

  /** Writes the same value for another full age; does nothing where there is none. */
  async rewrite(): Promise<void> {
    if (this.#kept !== undefined) await this.write(this.#kept.stored)
  }

  /** Makes the browser forget it. */
  erase(): void {
    this.#apply(++this.#changes, cookieLine(this.#options.name, '', 0), undefined)
  }

  async #read(text: string): Promise<void> {
    const opened = await this.#secrets.decrypt(purposeOf(this.#options.name), text)
    if (!Array.isArray(opened)) return
    const [writtenAt, stored] = opened as [number, unknown]
    const checked = await this.#options.check(stored)
    if ('value' in checked) this.#kept = { stored, value: checked.value, writtenAt }
  }

  #apply(change: number, line: string, kept: Kept<Value> | undefined): void {
    if (change < this.#lastApplied) return
    this.#lastApplied = change
    this.#kept = kept
    const { headers } = this.#context
    const others = headers.getSetCookie().filter((other) => !other.startsWith(`${this.#options.name}=`))
    headers.delete('Set-Cookie')
    for (const other of [...others, line]) headers.append('Set-Cookie', other)
  }
}

/** `__Host-` asks for `Secure`, `Path=/` and no `Domain` (RFC 6265bis): no other host can set or shadow the cookie. */
const HOST_PREFIX = '__Host-'

/** Name of a cookie for the browser of a request. */
export function sealedCookieName(
  name: string,
  { secureCookies = true }: Pick<SessionContext, 'secureCookies'>,
): string {
  return secureCookies ? HOST_PREFIX + name : name
}

function purposeOf(cookie: string): string {
  return `cookie ${cookie}`
}

function cookieLine(name: string, value: string, maxAge: number): string {
  const secure = name.startsWith(HOST_PREFIX)
  return stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, secure, sameSite: 'lax' })
}

/** The value as the next request will get it. */
function asJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) throw new TypeError('A session cannot keep undefined: clear() ends it')
  return JSON.parse(text)
}
