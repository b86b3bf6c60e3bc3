import { parseSetCookie, type SetCookie } from 'cookie'
import type { FakeClock } from './fake-clock.ts'

/** An answer of `fetch`, or one of supertest. */
export interface CookieAnswer {
  readonly headers: Headers | Readonly<Record<string, unknown>>
}

/** The cookies of one visitor of one site. */
export interface CookieJar {
  /**
   * Keeps the cookies that an answer sets, and drops those that it ends.
   * @param path of the request: a cookie without a path is for what is beside it. Default: `/`.
   * @throws {CookieError} for a cookie that browsers drop without a word.
   */
  keep(answer: CookieAnswer, path?: string): void
  /** The header for a request, for `fetch` and supertest's `set`: `{ Cookie: '…' }`, or none. */
  headers(path?: string): Record<string, string>
  /** The value of a cookie as it is sent; `undefined` without it. */
  get(name: string): string | undefined
  /** Ends all of them, as a browser does when its visitor clears the site's data. */
  clear(): void
}

/** A cookie that browsers drop, so that a test does not look for it on the next page. */
export class CookieError extends Error {
  override readonly name = 'CookieError'
  readonly cookie: string

  constructor(cookie: string, fault: string) {
    super(`Browsers drop the cookie ${JSON.stringify(cookie.slice(0, 80))}: ${fault}.`)
    this.cookie = cookie
  }
}

interface KeptCookie {
  readonly name: string
  readonly value: string
  readonly path: string
  /** ms since the epoch; `undefined` for the time that the browser is open. */
  readonly endsAt: number | undefined
}

const MOST_BYTES = 4_096 // of name and value, in RFC 6265bis
const MOST_COOKIES = 180 // of one site, in Chromium

/**
 * Makes an empty jar. It sends `Secure` and `__Host-` cookies over plain HTTP, as browsers do to the machine that they run
 * on, and as supertest's agent does not.
 * @param clock for the ends of cookies; default: the system's.
 */
export function createCookieJar(clock: Pick<FakeClock, 'now'> = Date): CookieJar {
  const cookies = new Map<string, KeptCookie>()
  const living = (): KeptCookie[] => {
    for (const [key, { endsAt }] of cookies) if (endsAt !== undefined && endsAt <= clock.now()) cookies.delete(key)
    return [...cookies.values()]
  }

  return {
    keep(answer, path = '/') {
      for (const line of setCookiesOf(answer)) {
        const cookie = parseSetCookie(line, { decode: (text) => text })
        const kept = keptCookie(line, cookie, path, clock.now())
        cookies.set(`${kept.name} ${kept.path}`, kept)
        if (cookies.size > MOST_COOKIES) throw new CookieError(kept.name, `a site has at most ${MOST_COOKIES}`)
      }
    },
    headers(path = '/') {
      // The longest path first, as RFC 6265 says.
      const sent = living()
        .filter((cookie) => isWithin(pathOf(path), cookie.path))
        .toSorted((one, other) => other.path.length - one.path.length)
      return sent.length === 0 ? {} : { Cookie: sent.map(({ name, value }) => `${name}=${value}`).join('; ') }
    },
    get: (name) => living().find((cookie) => cookie.name === name)?.value,
    clear: () => cookies.clear(),
  }
}

/** The `Set-Cookie` lines of an answer. */
export function setCookiesOf({ headers }: CookieAnswer): readonly string[] {
  if (headers instanceof Headers) return headers.getSetCookie()
  const lines = (headers as Readonly<Record<string, unknown>>)['set-cookie']
  return [lines ?? []].flat().map(String)
}

function keptCookie(line: string, cookie: SetCookie, requestPath: string, now: number): KeptCookie {
  const { name, value = '', maxAge, expires, secure = false, domain } = cookie
  const isSet = cookie.path?.startsWith('/') === true
  const path = isSet ? (cookie.path ?? '/') : folderOf(pathOf(requestPath))
  const fault = faultOf(name, { secure, domain, path: isSet ? path : undefined, isHostOnly: /^__host-/i.test(name) })
  if (fault !== undefined) throw new CookieError(name || line, fault)
  if (Buffer.byteLength(name + value) > MOST_BYTES) throw new CookieError(name, `it has more than ${MOST_BYTES} bytes`)
  const endsAt = maxAge === undefined ? expires?.getTime() : now + maxAge * 1_000
  return { name, value, path, endsAt }
}

interface CookieFacts {
  readonly secure: boolean
  readonly domain: string | undefined
  readonly path: string | undefined
  readonly isHostOnly: boolean
}

function faultOf(name: string, { secure, domain, path, isHostOnly }: CookieFacts): string | undefined {
  if (name === '') return 'it has no name'
  if (isHostOnly && !(secure && path === '/' && domain === undefined)) {
    return '__Host- needs Secure, Path=/ and no Domain'
  }
  return /^__secure-/i.test(name) && !secure ? '__Secure- needs Secure' : undefined
}

function pathOf(path: string): string {
  return path.replace(/[?#].*$/s, '')
}

/** The "default path" of RFC 6265. */
function folderOf(path: string): string {
  return path.startsWith('/') ? path.slice(0, Math.max(1, path.lastIndexOf('/'))) : '/'
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
