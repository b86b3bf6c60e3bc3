import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import { createLruCache } from '../../stores/cache/lru-cache.ts'

const MOST_URLS = 1_000
const LONGEST_URL = 500 // characters; a longer one counts with its route alone
const RETRY_MS = 60_000 // what has suspended may have been a lazy component, which is loaded since
const TRY_EVERY = 16 // requests of a route that has only suspended so far

/** A document that may be tried. */
type AskedWhole = Pick<RequestContext, 'audience' | 'clientAddress' | 'pathname' | 'search'>

/**
 * Which documents suspend by themselves: trying to render them whole would be wasted work. A document that is not whole is
 * in no shared cache, so a visitor's URL must not decide for other URLs of its route.
 */
export class WholeAttempts {
  /** Routes whose documents suspend for visitors of whom something is known: these are in no shared cache anyway. */
  readonly #personal = new Set<string>()
  /** Routes that have only suspended, with the requests since the last attempt. */
  readonly #waiting = new Map<string, number>()
  readonly #whole = new Set<string>()
  /** URLs that have suspended, with the time of their next attempt. */
  readonly #suspended = createLruCache<number>({ entries: MOST_URLS, bytes: MOST_URLS })
  readonly #now: () => number

  /** @param now milliseconds, monotonic. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether to try it. */
  isWorth(route: string, asked: AskedWhole): boolean {
    if (this.#personal.size > 0 && isPersonal(asked) && this.#personal.has(route)) return false
    if (this.#suspended.size > 0 && (this.#suspended.get(urlOf(asked)) ?? 0) > this.#now()) return false
    const waited = this.#waiting.get(route)
    if (waited === undefined) return true
    this.#waiting.set(route, (waited + 1) % TRY_EVERY)
    return waited + 1 === TRY_EVERY
  }

  /** Notes that an attempt was worth it, or not. */
  note(route: string, isWhole: boolean, asked: AskedWhole): void {
    if (isWhole) {
      this.#whole.add(route)
      this.#waiting.delete(route)
    } else if (isPersonal(asked)) {
      this.#personal.add(route)
    } else {
      const url = urlOf(asked)
      const client = clientKey(asked.clientAddress.address)
      if (url.length <= LONGEST_URL) this.#suspended.set(url, this.#now() + RETRY_MS, 1, client)
      if (!this.#whole.has(route)) this.#waiting.set(route, 0)
    }
  }
}

function isPersonal({ audience }: AskedWhole): boolean {
  return audience.guarded || audience.personal !== undefined
}

function urlOf({ pathname, search }: AskedWhole): string {
  return pathname + search
}
