import type { DraftEntries, KeptDrafts } from './draft-entries.ts'
import {
  isForSearch,
  noteUntouched,
  readDrafts,
  restoreDrafts,
  type Controls,
  type DraftKeeperParts,
  type Drafts,
  type Shown,
} from './drafts.ts'

/** Input on the page on screen. */
export interface PageDrafts {
  /** Of the fallback that the document shows; empty for a page. */
  kind: string
  /** Saves it for when the page is shown again. @param isTaken and @param isLeft as `KeptDrafts`. @param isRestored by the browser: all is there. */
  keep(isTaken?: boolean, isRestored?: boolean, isLeft?: boolean): void
  /** Restores it. @param isTraversal whether the visitor has moved in the history. */
  show(isTraversal: boolean): void
  /** @param caught as for `DraftKeeper`. */
  leaving(caught: string | undefined): void
  /** Forgets what is not restored yet. */
  clear(): void
}

/** @param former controls with a former user's input. */
export function createPageDrafts(
  { window, pathname, key, typed, kind }: DraftKeeperParts,
  entries: DraftEntries,
  former: { readonly controls: Controls },
): PageDrafts {
  const { document } = window
  /** Drafts whose controls are missing. */
  let pending: Drafts = new Map()
  let shown = ''
  let isRestored = false
  /** Whether the router has taken the page away: what was typed then is more than what is typed before it is back. */
  let isWorthMore = false
  /** What the server has made of them, which stays when the page gets other data: React does not change it. */
  const untouched: Shown = new WeakMap()
  const observer = new window.MutationObserver(restore)

  function restore(): void {
    restoreDrafts(document, pending, page.kind, (control, isSame) =>
      isRestored ? typed.has(control) : !isWorthMore && !isSame && typed.has(control),
    )
    noteUntouched(document, typed, untouched)
    isRestored = true
    observe()
  }
  function observe(): void {
    if (pending.size > 0) observer.observe(document, { childList: true, subtree: true })
    else observer.disconnect()
  }

  const page: PageDrafts = {
    kind,
    keep(isTaken = page.kind !== '', isThere = isRestored, isLeft = false) {
      // Saved input that is not restored yet is more valuable than input typed since.
      if (!isThere) return
      const drafts = new Map(pending)
      readDrafts(document, drafts, page.kind, { typed, foreign: former.controls, untouched })
      entries.put(key(), { pathname: pathname(), isTaken, isLeft, drafts: [...drafts] })
    },
    show(isTraversal) {
      const path = pathname()
      const at = key()
      const isOf = (one: string, isTaken: boolean): boolean =>
        isTaken || (one === at && (isTraversal || page.kind !== ''))
      const [from = at, found] =
        [...entries.open].findLast(([one, { pathname: of, isTaken }]) => of === path && isOf(one, isTaken)) ?? []
      if (found || shown !== at) pending = new Map(found && restorable(found))
      if (found) isWorthMore = found.isTaken
      shown = at
      for (const one of [at, from]) entries.open.delete(one)
      if (found && page.kind) entries.open.set(at, { ...found, isTaken: true })
      restore()
    },
    leaving(caught) {
      page.keep()
      if (caught === undefined) return
      pending = new Map(entries.open.get(key())?.drafts)
      page.kind ||= caught
      // Its controls are still in the document.
      observe()
    },
    clear: () => pending.clear(),
  }
  return page
}

/** Controls for search params show those of the URL again. */
function restorable({ isTaken, drafts }: KeptDrafts): KeptDrafts['drafts'] {
  return drafts.filter(([address]) => isTaken || !isForSearch(address))
}
