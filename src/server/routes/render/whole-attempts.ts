import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import { createLruCache } from '../../stores/cache/lru-cache.ts'

const MOST_URLS = 1_000
const LONGEST_URL = 500 // characters; a longer one counts with its route alone
const RETRY_MS = 60_000 // what has suspended may have been a lazy component, which is loaded since
const TRY_EVERY = 16 // requests of a route that has only suspended so far

/** A document that may be tried. */
interface AskedWhole extends Pick<RequestContext, 'clientAddress' | 'pathname' | 'search'> {
  readonly route: string
  /** Whether caches may share the document, if it is whole. Asked only where something has suspended. */
  readonly mayBeShared: () => boolean
}

/**
 * Which documents suspend by themselves: trying to render them whole would be wasted work. A document that is not whole is
 * in no shared cache, so a visitor's URL must not decide for other URLs of its route, and the document of somebody who is
 * signed in decides nothing for those that may be shared.
 */
export class WholeAttempts {
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
  isWorth(asked: AskedWhole): boolean {
    if (this.#suspended.size === 0 && this.#waiting.size === 0) return true
    const kind = kindOf(asked)
    if ((this.#suspended.get(kind + urlOf(asked)) ?? 0) > this.#now()) return false
    const route = kind + asked.route
    const waited = this.#waiting.get(route)
    if (waited === undefined) return true
    this.#waiting.set(route, (waited + 1) % TRY_EVERY)
    return waited + 1 === TRY_EVERY
  }

  /** Notes that an attempt was worth it, or not. */
  note(isWhole: boolean, asked: AskedWhole): void {
    const { route } = asked
    if (isWhole) {
      this.#whole.add(route)
      if (this.#waiting.size > 0) this.#waiting.delete(kindOf(asked) + route)
      return
    }
    const kind = kindOf(asked)
    const url = urlOf(asked)
    const client = clientKey(asked.clientAddress.address)
    if (url.length <= LONGEST_URL) this.#suspended.set(kind + url, this.#now() + RETRY_MS, 1, client)
    if (!this.#whole.has(route)) this.#waiting.set(kind + route, 0)
  }
}

/** Before a path or a route, which begin with a slash. */
function kindOf({ mayBeShared }: AskedWhole): string {
  return mayBeShared() ? 'shared ' : ''
}

function urlOf({ pathname, search }: AskedWhole): string {
  return pathname + search
}
