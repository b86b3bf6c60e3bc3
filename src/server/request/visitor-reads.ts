import type { IncomingHttpHeaders } from 'node:http'
import { parseCookie } from 'cookie'
import type { OpensSessions } from '../secrets/sealed-cookie.ts'
import { SearchUses } from '../stores/cache/document-names.ts'

const MOST_COOKIES = 32 // names; a page that asks for more, as by its params, may depend on any cookie
const LONGEST_NAME = 200 // characters, of a cookie; a longer one is what a visitor has sent
const MOST_KINDS = 16 // of sessions: an application that declares one for each request fills no memory
const COOKIE = 'cookie '
const HOST_PREFIX = '__Host-'

/** What says nothing yet: a session's cookies follow, and each host has its own documents. */
const HARMLESS: ReadonlySet<string> = new Set(['session', 'origin'])

/** What the functions `visitor` of a page have ever read of those who visit it. */
export class VisitorReads {
  /** The search params that components in slots have read. No shared render shows that: it has the slots of a stranger. */
  readonly search = new SearchUses()
  readonly #cookies = new Set<string>()
  readonly #kinds = new Set<OpensSessions>()
  readonly #listeners = new Set<() => void>()
  #isOfAll = false
  #isOfAnyCookie = false

  /** Whether something other than cookies was read: then no visitor gets the page of unknown visitors. */
  get isOfAll(): boolean {
    return this.#isOfAll
  }

  /** The kinds of sessions that were opened. */
  get kinds(): readonly OpensSessions[] {
    return [...this.#kinds]
  }

  /** Notes that a session of a kind was opened. */
  noteKind(kind: OpensSessions): void {
    this.#kinds.add(kind)
    for (const oldest of this.#kinds) if (this.#kinds.size > MOST_KINDS) this.#kinds.delete(oldest)
  }

  /**
   * Calls back once `isOfAll` is true.
   * @returns removes the listener: this object lives as long as the process.
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
