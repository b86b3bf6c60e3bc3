import { createDraftEntries, type DraftEntries } from './draft-entries.ts'
import { createOwners, type OwnedPage, type Ownership } from './draft-owners.ts'
import { hasInput, type DraftKeeper, type DraftKeeperParts } from './drafts.ts'
import { placeOf } from './frame-place.ts'
import { createFormerInput } from './former-input.ts'
import { createPageDrafts } from './page-drafts.ts'

const LONGEST_LOAD_MS = 3_000 // then it is waited for no longer

/**
 * Restores the input that the previous document saved, and watches typing from now on. Lifetime: that of the tab; in the storage only while no document of the site is shown.
 */
export function keepDrafts(parts: DraftKeeperParts): DraftKeeper {
  const { window, storage, name, pathname, key, entry, typed } = parts
  const { document } = window
  const entries = createDraftEntries(storage, name + placeOf(window))
  const ownership = createOwners({ left: lock, back: unlock, changed: () => drop(true), forget: entries.forget })
  const { owners, page, learn } = ownership
  const former = createFormerInput(window, typed)
  const drafts = createPageDrafts(parts, entries, former)
  /** The entry that the browser may have restored when it loaded the document. */
  const restored = entry.owner === undefined ? undefined : key()
  const isReload = wasReloaded(window)
  const { own, disown } = createInputOwner(parts, page)
  /** Whether the tab has learned whose it is, the page is there, and the router was last about to load it again. */
  let [isReady, isStarted, isReloading] = [false, false, false]

  /** The page on screen may be about to be taken away, or stays for whoever comes next. */
  function lock(): void {
    document.dispatchEvent(new Event('millrace:left'))
    drafts.keep(true)
    entries.lock()
    drafts.clear()
    empty()
  }

  function unlock(): void {
    document.dispatchEvent(new CustomEvent('millrace:back', { detail: page.isFormer }))
    entries.unlock()
    if (isStarted) show(false)
  }

  /** @param isEmptied whether the page on screen must not show it either. @param news what calls and event streams hear. */
  function drop(isEmptied: boolean, news = 'millrace:owner'): void {
    document.dispatchEvent(new Event(news))
    entries.clear()
    drafts.clear()
    if (isEmptied) empty()
    else former.takeBack('nothing')
  }

  /** Takes away what the page on screen shows of a former user. */
  function empty(): void {
    if (!isReady) return
    // Undo would bring it back, and components may hold it: the page is loaded as a document.
    if (hasInput(document, typed)) document.dispatchEvent(new Event('millrace:emptied'))
    disown()
    former.hold(key() === restored ? 'restored' : 'typed')
  }

  /** The browser has restored it for somebody else; @param owner may come back. */
  function takeRestored(owner: string): void {
    if (isAway(ownership, owner)) {
      drafts.keep(true, true)
      entries.lock()
    }
    disown()
    former.takeBack('restored')
  }

  function show(isTraversal: boolean): void {
    // Without a session of the runtime, nobody knows who will be signed in next: calls ask, and what the page shows stays.
    if (drafts.kind === 'unauthorized' && owners.size === 0) drop(false, 'millrace:session')
    drafts.show(isTraversal)
  }

  function start(): void {
    if (isStarted) return
    isStarted = true
    // Who loads a page again may want its form empty.
    if (isReload && entries.open.get(key())?.isLeft) entries.open.delete(key())
    show(true)
  }

  window.addEventListener('pagehide', () => {
    // The router may have kept it just now, for a document of its own.
    if (entries.open.get(key())?.isLeft ?? true) drafts.keep(undefined, undefined, !isReloading)
  })
  followOwners(window, entries, ownership)
  learn(parts.marks)
  page.isFormer = parts.isFormer // others were loaded for whoever is here now
  isReady = true
  if (entry.owner !== undefined && parts.isOthers(entry.owner)) takeRestored(entry.owner)
  own()
  whenInput(window, own)
  whenLoaded(window, start)
  return {
    save: (path = pathname()) => drafts.keep((isReloading = path === pathname())),
    leaving: (caught) => drafts.leaving(caught),
    arrived(next, isTraversal) {
      drafts.kind = next
      page.isFormer = false
      former.release()
      show(isTraversal)
      own()
    },
    learn(marks) {
      learn(marks)
      own()
    },
  }
}

/** Takes a former user's page away from whoever comes back to it, where the browser has kept it as it was. */
function followOwners(window: Window, entries: DraftEntries, { owners, page, inherit }: Ownership): void {
  entries.read(inherit)
  window.addEventListener('pagehide', () => {
    entries.write(owners)
    // The browser paints it before scripts run.
    if (page.isFormer) window.document.documentElement.style.setProperty('display', 'none', 'important')
  })
  window.addEventListener('pageshow', ({ persisted }) => {
    // The session may have changed on later pages of this tab.
    if (persisted) entries.read(inherit)
    if (persisted && page.isFormer) window.location.reload()
  })
}

/** Writes to the history entry whose its input is. */
function createInputOwner({ window: { document }, entry, typed, now: ofPage }: DraftKeeperParts, page: OwnedPage) {
  return {
    /** For a later document, to which the browser gives back the input on this entry. That of a former user is not the next one's. */
    own(): void {
      const now = ofPage()
      if (!page.isFormer && entry.owner !== now && hasInput(document, typed)) entry.own(now)
    },
    /** Before the page is loaded again: what its components set by themselves then is not what the browser has restored. */
    disown(): void {
      if (entry.owner !== undefined) entry.own(ofPage())
    },
  }
}

function whenLoaded(window: Window, hear: () => void): void {
  if (window.document.readyState === 'complete') hear()
  else window.addEventListener('load', hear)
  // One picture may keep a document from its end for ever.
  setTimeout(hear, LONGEST_LOAD_MS)
}

function wasReloaded({ performance }: Window): boolean {
  const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return load?.type === 'reload'
}

/** Whether one of these marks is that of a user of this tab who has signed out. */
function isAway({ owners }: Ownership, marks: string): boolean {
  return [...owners.values()].some(
    ({ who, isOut }) => isOut && who.split('.').some((user) => user !== '' && marks.includes(`.${user}`)),
  )
}

/** Calls back whenever there may be input that this history entry did not have. */
function whenInput(window: Window, hear: () => void): void {
  const { document, navigation } = window as { readonly document: Document; readonly navigation?: Navigation }
  for (const type of ['input', 'change']) document.addEventListener(type, hear, true)
  // A script may fill in what nobody has typed.
  document.addEventListener('click', () => setTimeout(hear), true)
  // Another entry of the same page.
  window.addEventListener('hashchange', hear)
  navigation?.addEventListener('currententrychange', hear)
}
