import type { Draft } from './drafts.ts'
import type { Owner } from './draft-owners.ts'

/** Drafts of a history entry. */
export interface KeptDrafts {
  /** Of the page. */
  readonly pathname: string
  /** The page was taken away from the visitor: any entry that shows it next gets them. */
  readonly isTaken: boolean
  /** The visitor has left the document: the browser restores them too, but not where the visitor loads it again. */
  readonly isLeft?: boolean
  readonly drafts: readonly (readonly [address: string, draft: Draft])[]
}

const MAX_ENTRIES = 20 // with 65,536 characters each, a quarter of what browsers store for a site

/** Drafts by the key of their history entry, the oldest first. */
type Entries = Map<string, KeptDrafts>

/** Drafts of this tab: those that may be shown, and those of an owner who is not signed in. */
export interface DraftEntries {
  /** Those that may be shown. */
  readonly open: Entries
  /** Puts drafts behind all others; a page that was taken away stays so. */
  put(at: string, kept: KeptDrafts): void
  /** Takes away all, until `unlock`. */
  lock(): void
  unlock(): void
  /** Drops what `lock` has taken away. */
  forget(): void
  clear(): void
  /**
   * Adds what the former document has left, and clears the storage.
   * @param inherit called before that, with its owners: what is here already may be of others.
   */
  read(inherit: (owners: ReadonlyMap<string, Owner>) => void): void
  /** Stores it all for the next document. */
  write(owners: ReadonlyMap<string, Owner>): void
}

/** Bound: `MAX_ENTRIES` entries of each sort, the oldest are dropped first. */
export function createDraftEntries(storage: Storage | undefined, name: string): DraftEntries {
  const open: Entries = new Map()
  const locked: Entries = new Map()
  return {
    open,
    put(at, kept) {
      const isTaken = kept.isTaken || !!open.get(at)?.isTaken
      open.delete(at)
      if (kept.drafts.length > 0) open.set(at, { ...kept, isTaken })
      if (open.size > MAX_ENTRIES) dropOldest(open)
    },
    lock: () => move(open, locked),
    unlock() {
      move(open, locked)
      move(locked, open)
    },
    forget: () => locked.clear(),
    clear() {
      open.clear()
      locked.clear()
    },
    read(inherit) {
      const [owners, ...kept] = readStored(storage, name)
      inherit(owners)
      kept.forEach((one, index) => one.forEach((drafts, at) => (index > 0 ? locked : open).set(at, drafts)))
    },
    write: (owners) => writeStored(storage, name, [owners, open, locked]),
  }
}

/** Moves entries; of two inputs of one control, the moved one stays. */
function move(from: Entries, to: Entries): void {
  for (const [at, one] of from) {
    const { isTaken = false, drafts = [] } = to.get(at) ?? {}
    to.set(at, { ...one, isTaken: one.isTaken || isTaken, drafts: [...new Map([...drafts, ...one.drafts])] })
  }
  from.clear()
  while (to.size > MAX_ENTRIES) dropOldest(to)
}

function dropOldest(entries: Map<string, unknown>): void {
  for (const [oldest] of entries) return void entries.delete(oldest)
}

/** What a document leaves to the next one. */
type Stored = readonly [owners: ReadonlyMap<string, Owner>, entries: Entries, locked: Entries]

/** Clears the storage. */
function readStored(storage: Storage | undefined, name: string): Stored {
  try {
    const text = storage?.getItem(name) ?? '[]'
    storage?.removeItem(name)
    const [owners, ...kept] = (JSON.parse(text) as [string, never][][]).map((pairs) => new Map(pairs))
    const [entries = new Map(), locked = new Map()] = kept.map(
      (one) => new Map([...one].filter(([, { drafts }]) => Array.isArray(drafts))),
    )
    return [owners ?? new Map(), entries, locked]
  } catch {
    // Another script or version has left something else there.
    return [new Map(), new Map(), new Map()]
  }
}

/** Stores what there is room for, and always whose the tab is: the next document may not learn it before it is typed in. */
function writeStored(storage: Storage | undefined, name: string, stored: Stored): void {
  const [, entries, locked] = stored
  while (stored.some(({ size }) => size > 0)) {
    try {
      storage?.setItem(name, JSON.stringify(stored.map((one) => [...one])))
      return
    } catch {
      // A full or forbidden storage.
      if (entries.size + locked.size === 0) return
      dropOldest(locked.size > 0 ? locked : entries)
    }
  }
}
