/**
 * Tells the kept documents of a page apart by the search params that were read during rendering, as `Vary` does with
 * headers. Unread params do not make a new document, so `?x=1..n` cannot fill the cache. A document that reads `tab` is
 * found by `tab`, whatever others of its page read: one that needs the whole query must not make each `?gclid=…` a document
 * of its own. Bounds: 1,000 pages with 32 copies each, whose names have 200 characters at most; the least recently asked for
 * go first, those of a client with more than a quarter before all others. Eight sets of params; all further ones are one set.
 */
import { hash } from 'node:crypto'
import type { RawSearch } from '../../../shared/raw-search.ts'
import type { SearchListener } from '../../values/track-search.ts'
import { createLruCache } from './lru-cache.ts'

const MOST_PAGES = 1_000
const MOST_COPIES = 32
const MOST_SETS = 8
const LONGEST_NAME = 200 // characters; a URL may have thousands, and a hash stands for longer names
const MOST_PARAMS = 32 // a loader that reads the params a visitor names counts as reading all

/** A requested document. */
export interface AskedDocument {
  /** Everything besides the query that selects a document: route, path, params, variants. */
  readonly page: string
  /** As the page's loaders get them, if it has any. */
  readonly variants?: Readonly<Record<string, string>> | undefined
  /** After rewriting, as loaders get it. */
  readonly search: RawSearch
  /** The query as text, before and after rewriting. */
  readonly queries: readonly string[]
}

/** The search params that a document depends on. */
export class SearchUses implements SearchListener {
  #keys: Set<string> | 'all' = new Set()
  /** Another number after each change. */
  version = 0

  useParam(key: string): void {
    if (this.#keys === 'all' || this.#keys.has(key)) return
    this.version += 1
    this.#keys.add(key)
    if (this.#keys.size > MOST_PARAMS || key.length > LONGEST_NAME) this.#keys = 'all'
  }

  useAll(): void {
    if (this.#keys !== 'all') this.version += 1
    this.#keys = 'all'
  }

  /** Whether it depends on none. */
  get isEmpty(): boolean {
    return this.#keys !== 'all' && this.#keys.size === 0
  }

  /** Adds the facts of a segment. */
  add(uses: true | readonly string[] | undefined): void {
    if (uses === true) this.useAll()
    else uses?.forEach((key) => this.useParam(key))
  }

  /** Whether another document depends on the same params. */
  equals(other: SearchUses): boolean {
    const [keys, others] = [this.#keys, other.#keys]
    if (keys === 'all' || others === 'all') return keys === others
    return keys.size === others.size && [...keys].every((key) => others.has(key))
  }

  /** Adds everything that another document depends on. */
  join(other: SearchUses): void {
    this.add(other.#keys === 'all' ? true : [...other.#keys])
  }

  /** @returns only those params; the same object if there are no others. */
  pick(search: RawSearch): RawSearch {
    const keys = this.#keys
    if (keys === 'all' || Object.keys(search).every((key) => keys.has(key))) return search
    const picked = Object.create(null) as Record<string, string | string[]>
    for (const [key, value] of Object.entries(search)) if (keys.has(key)) picked[key] = value
    return picked
  }

  /** Names the document among those of its page. */
  nameOf({ search, queries }: AskedDocument): string {
    if (this.#keys !== 'all' && queries[0] === '' && queries[1] === '') return '[]'
    const sorted = Object.entries(this.pick(search)).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return JSON.stringify(this.#keys === 'all' ? queries : sorted)
  }
}

/** Names of kept documents. */
interface DocumentNames {
  /** @returns that of a copy, or by all params that matter to the page; `undefined` if nothing of the page is kept. */
  find(asked: AskedDocument): string | undefined
  /**
   * Names a document to be kept.
   * @param client for which it was made, as `clientKey` names it.
   */
  learn(asked: AskedDocument, uses: SearchUses, client: string): string
}

interface Page {
  /** Of all documents of the page so far. */
  readonly uses: SearchUses
  /** What its documents depend on; the last one may grow. */
  readonly sets: SearchUses[]
  /** Names of its copies, each with its client, the most recently asked for last. */
  readonly names: Map<string, string>
  /** Another number after each change. */
  version: number
}

/** @param drop receives the names of documents that must not be found any more. */
export function createDocumentNames(drop: (name: string) => void): DocumentNames {
  // The next documents of the page may read fewer params, and its former ones would then be found for queries of others.
  const pages = createLruCache<Page>({ entries: MOST_PAGES, bytes: MOST_PAGES }, (_key, { names }) =>
    [...names.keys()].forEach(drop),
  )
  /** The number of the set is part of it: documents that depend on more may have the same values of these. */
  const nameOf = (asked: AskedDocument, uses: SearchUses, set: number | string): string =>
    shortName(`${asked.page} ${set} ${uses.nameOf(asked)}`)
  const findIn = (asked: AskedDocument, { uses, sets, names }: Page): string => {
    for (const [set, own] of sets.entries()) {
      const name = nameOf(asked, own, set)
      const client = names.get(name)
      if (client === undefined) continue
      names.delete(name)
      names.set(name, client)
      return name
    }
    return nameOf(asked, uses, 'none')
  }
  /** The last answer of `find`: the next request mostly asks for the same, and a new text costs each map a hash. */
  const last: { asked?: AskedDocument; page?: Page; version?: number; name: string } = { name: '' }

  return {
    find(asked) {
      const page = pages.get(shortName(asked.page))
      if (page === undefined) return undefined
      if (last.asked !== asked || last.page !== page || last.version !== page.version) {
        Object.assign(last, { asked, page, version: page.version, name: findIn(asked, page) })
      }
      return last.name
    },
    learn(asked, uses, client) {
      const key = shortName(asked.page)
      const page = pages.get(key) ?? { uses: new SearchUses(), sets: [], names: new Map<string, string>(), version: 0 }
      pages.set(key, page, 1, client)
      page.version += 1
      page.uses.join(uses)
      const { names, sets } = page
      const set = setOf(page, uses)
      const name = nameOf(asked, sets[set] ?? uses, set)
      for (const [other, own] of sets.entries()) {
        const former = nameOf(asked, own, other)
        // Its document has come to read others.
        if (former !== name && names.delete(former)) drop(former)
      }
      names.delete(name)
      names.set(name, client)
      if (names.size > MOST_COPIES) {
        const own = [...names.keys()].filter((other) => names.get(other) === client)
        const [oldest = name] = own.length * 4 > MOST_COPIES ? own : names.keys()
        names.delete(oldest)
        drop(oldest)
      }
      return name
    },
  }
}

/** The number of the set for a document with these uses. The last one is for all that find no room. */
function setOf({ sets, uses: all }: Page, uses: SearchUses): number {
  const known = sets.findIndex((own) => own.equals(uses))
  if (known !== -1) return known
  const set = Math.min(sets.length, MOST_SETS - 1)
  const own = (sets[set] ??= new SearchUses())
  own.join(set === MOST_SETS - 1 ? all : uses)
  return set
}

/** A name begins with a bracket, and a hash does not. */
function shortName(name: string): string {
  return name.length > LONGEST_NAME ? hash('sha256', name, 'base64url') : name
}
