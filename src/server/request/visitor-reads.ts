import type { IncomingHttpHeaders } from 'node:http'
import { parseCookie } from 'cookie'

const MOST_COOKIES = 32 // a page that asks for more depends on who asks, whatever the cookies
const COOKIE = 'cookie '
const HOST_PREFIX = '__Host-'

/** What says nothing yet: a session's cookies follow, and each host has its own documents. */
const HARMLESS: ReadonlySet<string> = new Set(['session', 'origin'])

/** What the functions `visitor` of a page have ever read of those who visit it. */
export class VisitorReads {
  readonly #cookies = new Set<string>()
  #isOfAll = false
  readonly #whenOfAll = Promise.withResolvers<void>()

  /** Whether something else than cookies was read: then nobody gets the page of a visitor of whom nothing is known. */
  get isOfAll(): boolean {
    return this.#isOfAll
  }

  /** Resolves once `isOfAll` is true. */
  get whenOfAll(): Promise<void> {
    return this.#whenOfAll.promise
  }

  /** Notes what was read, by its name in `Cache-Status`: `cookie NAME`, `address`. */
  note(what: string): void {
    if (HARMLESS.has(what)) return
    if (what.startsWith(COOKIE)) {
      const name = what.slice(COOKIE.length)
      // Some browsers have sessions of a local server without the prefix.
      this.#cookies.add(name).add(name.startsWith(HOST_PREFIX) ? name.slice(HOST_PREFIX.length) : name)
      if (this.#cookies.size <= MOST_COOKIES) return
    }
    this.#isOfAll = true
    this.#whenOfAll.resolve()
  }

  /** Whether a request has something of what was read, so that its page may differ from that of a stranger. */
  concern({ authorization, cookie }: IncomingHttpHeaders): boolean {
    if (this.#isOfAll || authorization !== undefined) return true
    if (cookie === undefined || this.#cookies.size === 0) return false
    return Object.keys(parseCookie(cookie)).some((name) => this.#cookies.has(name))
  }
}
