import type { OpensSessions } from '../secrets/sealed-cookie.ts'
import { SearchUses } from '../stores/cache/document-names.ts'

const MOST_KINDS = 16 // of sessions: an application that declares one for each request fills no memory

/** What the answers with slots of a route have shown, and a shared render cannot: it has the slots of a stranger. */
export class LearnedSlots {
  /** The search params that components in slots have read. */
  readonly search = new SearchUses()
  readonly #kinds = new Set<OpensSessions>()

  /** The kinds of sessions that functions `visitor` have opened. */
  get kinds(): readonly OpensSessions[] {
    return [...this.#kinds]
  }

  /** Notes that a session of a kind was opened. */
  noteKind(kind: OpensSessions): void {
    this.#kinds.add(kind)
    for (const oldest of this.#kinds) if (this.#kinds.size > MOST_KINDS) this.#kinds.delete(oldest)
  }
}
