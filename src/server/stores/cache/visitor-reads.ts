import type { IncomingHttpHeaders } from 'node:http'
import { parseCookie } from 'cookie'

const MOST_COOKIES = 32 // names; a page that asks for more, as by its params, may depend on any cookie
const LONGEST_NAME = 200 // characters, of a cookie; a longer one is what a visitor has sent
const NAME_BYTES = 50
const COOKIE = 'cookie '
const HOST_PREFIX = '__Host-'

/** What says nothing yet: a session's cookies follow, and each host has its own documents. */
const HARMLESS: ReadonlySet<string> = new Set(['session', 'origin'])

/**
 * What the functions `visitor` of a page read of a visitor of whom nothing is known, while a document of it was made. One
 * who has nothing of that is like this stranger to them: they read no more of him, and he gets the document.
 */
export class VisitorReads {
  readonly #cookies = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #isOfAll = false
  #isOfAnyCookie = false

  /** Whether something other than cookies was read: then no visitor gets the page of unknown visitors. */
  get isOfAll(): boolean {
    return this.#isOfAll
  }

  /** About what its names take. */
  get bytes(): number {
    let bytes = 0
    for (const name of this.#cookies) bytes += name.length + NAME_BYTES
    return bytes
  }

  /**
   * Calls back once `isOfAll` is true.
   * @returns removes the listener: this object lives as long as the document.
   */
  onOfAll(listener: () => void): () => void {
    if (this.#isOfAll) listener()
    else this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Notes what was read, by its name in `Cache-Status`: `cookie NAME`, `address`. */
  note(what: string): void {
    if (this.#isOfAll || HARMLESS.has(what)) return
    if (what.startsWith(COOKIE)) {
      const name = what.slice(COOKIE.length)
      // Some browsers have sessions of a local server without the prefix.
      if (name.length <= LONGEST_NAME && this.#cookies.size <= MOST_COOKIES) {
        this.#cookies.add(name).add(name.startsWith(HOST_PREFIX) ? name.slice(HOST_PREFIX.length) : name)
      } else {
        this.#isOfAnyCookie = true
      }
      return
    }
    this.#isOfAll = true
    this.#cookies.clear()
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  /** Whether a request has something of what was read, so that its page may differ from that of a stranger. */
  concern({ authorization, cookie }: IncomingHttpHeaders): boolean {
    if (this.#isOfAll || authorization !== undefined) return true
    if (cookie === undefined || this.#isOfAnyCookie) return cookie !== undefined
    if (this.#cookies.size === 0) return false
    return Object.keys(parseCookie(cookie)).some((name) => this.#cookies.has(name))
  }
}
