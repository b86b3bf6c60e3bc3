import { parseCookie, parseSetCookie, stringifyCookie } from 'cookie'
import type { Secrets } from '../../../src/server/secrets/secrets.ts'
import type { SessionContext } from '../../../src/server/secrets/define-session.ts'

/** A visitor's browser, as far as cookies go. */
export interface BrowserJar {
  /** What it holds, by name. */
  readonly cookies: Map<string, string>
  /** Begins a request with what it holds now. */
  request(options?: Pick<SessionContext, 'prefetch' | 'secureCookies'>): SessionContext
  /** Takes the answer of a request. */
  receive(context: SessionContext): void
}

/** Makes an empty one. */
export function browserJar(secrets: Secrets): BrowserJar {
  const cookies = new Map<string, string>()
  return {
    cookies,
    request(options = {}) {
      const sent = parseCookie(stringifyCookie(Object.fromEntries(cookies)))
      return { secrets, headers: new Headers(), cookie: (name) => sent[name], ...options }
    },
    receive({ headers }) {
      for (const line of headers.getSetCookie()) {
        const { name, value = '', maxAge } = parseSetCookie(line)
        if (maxAge === 0) cookies.delete(name)
        else cookies.set(name, value)
      }
    },
  }
}
