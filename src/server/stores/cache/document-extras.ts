import { clientKey } from '../../http/client-key.ts'
import { createLruCache, type LruBounds, type LruCache } from './lru-cache.ts'

/** A form of a kept document that can be made of it again. */
export interface Extra {
  readonly key: string
  usedMs: number
}

const USED_MS = 1_000 // marked as used no more often: that costs six lookups
const ENTRY_BYTES = 200

/**
 * What visitors add to kept documents by what they ask for: codings, and data for the segments that a browser lacks. It has
 * room of its own, with a share for each client, so that what a stranger asks for pushes out neither a document nor its
 * data. A document that is gone leaves its extras here until they are the least recently used.
 */
export class DocumentExtras {
  readonly #forms: LruCache<Extra & { readonly forget: () => void }>
  readonly #now: () => number
  #last = 0

  /** @param now milliseconds since the epoch. */
  constructor(bounds: LruBounds, now: () => number) {
    this.#forms = createLruCache(bounds, (_key, { forget }) => forget())
    this.#now = now
  }

  get bytes(): number {
    return this.#forms.bytes
  }

  /**
   * @param address of the client that asks for it.
   * @param forget removes it from its document; may be called before this returns.
   */
  add(bytes: number, address: string, forget: () => void): Extra {
    this.#last += 1
    const extra = { key: String(this.#last), usedMs: this.#now(), forget }
    if (!this.#forms.set(extra.key, extra, ENTRY_BYTES + bytes, clientKey(address))) forget()
    return extra
  }

  /** Marks it as used. */
  use(extra: Extra): void {
    const now = this.#now()
    if (now - extra.usedMs < USED_MS) return
    extra.usedMs = now
    this.#forms.get(extra.key)
  }
}
