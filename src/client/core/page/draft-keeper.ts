import { createDraftEntries, type DraftEntries, type KeptDrafts } from './draft-entries.ts'
import { createOwners, type OwnedPage } from './draft-owners.ts'
import type { DraftKeeper, DraftKeeperParts } from './drafts.ts'
import {
  controlsIn,
  disown,
  hasInput,
  readDrafts,
  restoreDrafts,
  type Controls,
  type Drafts,
  isForSearch,
} from './drafts.ts'

/**
 * Restores the input that the previous document saved, and watches typing from now on. Lifetime: that of the tab; in the storage only while no document of the site is shown.
 */
export function keepDrafts(parts: DraftKeeperParts): DraftKeeper {
  const { window, storage, name, pathname, key, typed } = parts
  let { kind } = parts
  const { document } = window
  const entries = createDraftEntries(storage, name)
  const { owners, page, inherit, learn } = createOwners({ left: lock, back: unlock, changed: drop })
  /** What a former visitor has typed in. */
  let foreign: Controls = new WeakSet()
  /** Drafts of the page on screen whose controls are missing. */
  let pending: Drafts = new Map()
  let shown = ''
  let isRestored = false
  const observer = new window.MutationObserver(restore)

  function restore(): void {
    restoreDrafts(document, pending, kind, isRestored ? typed : undefined)
    observe()
  }
  function observe(): void {
    if (pending.size > 0) observer.observe(document, { childList: true, subtree: true })
    else observer.disconnect()
  }

  function keep(isTaken = kind !== ''): void {
    // Saved input that is not restored yet is more valuable than input typed since.
    if (!isRestored) return
    const drafts = new Map(pending)
    readDrafts(document, drafts, kind, { typed, foreign })
    entries.put(key(), { pathname: pathname(), isTaken, drafts: [...drafts] })
  }

  function show(isTraversal: boolean): void {
    const path = pathname()
    const at = key()
    const [from = at, found] =
      [...entries.open].findLast(
        ([one, { pathname: of, isTaken }]) => of === path && (isTaken || (one === at && (isTraversal || kind !== ''))),
      ) ?? []
    if (found || shown !== at) pending = new Map(found && restorable(found))
    shown = at
    for (const one of [at, from]) entries.open.delete(one)
    if (found && kind) entries.open.set(at, { ...found, isTaken: true })
    // Without a session of the runtime, nobody knows who will be signed in next: calls ask, and what the page shows stays.
    if (kind === 'unauthorized' && owners.size === 0) drop(false, 'millrace:session')
    restore()
  }

  /** The page on screen may be about to be taken away, or stays for whoever comes next; before `start`, it has nothing. */
  function lock(): void {
    document.dispatchEvent(new Event('millrace:left'))
    keep(true)
    entries.lock()
    pending.clear()
    if (isRestored) foreign = disown(document, typed, takenOf(entries, key()))
  }

  function unlock(): void {
    document.dispatchEvent(new Event('millrace:back'))
    entries.unlock()
    if (isRestored) show(false)
  }

  /** @param isEmptied whether the page on screen must not show it either. @param news what calls and event streams hear. */
  function drop(isEmptied: boolean, news = 'millrace:owner'): void {
    document.dispatchEvent(new Event(news))
    entries.clear()
    pending.clear()
    foreign = disown(document, typed, isEmptied ? takenOf(entries, key()) : 'nothing')
  }

  function start(): void {
    if (isOfOthers(entries, parts)) foreign = disown(document, typed, 'restored')
    show(true)
    isRestored = true
  }

  watchTyping(document, typed, () => foreign)
  entries.read(inherit)
  learn(parts.marks)
  watchReturns(window, page, { leave: () => leaveEntry(entries, owners, parts), comeBack: () => entries.read(inherit) })
  if (document.readyState === 'complete') start()
  else window.addEventListener('load', start, { once: true })
  return {
    save: (path = pathname()) => keep(path === pathname()),
    leaving(caught) {
      keep()
      if (caught === undefined) return
      pending = new Map(entries.open.get(key())?.drafts)
      kind ||= caught
      // Its controls are still in the document.
      observe()
    },
    arrived(next, isTraversal) {
      kind = next
      page.isFormer = false
      show(isTraversal)
    },
    learn,
  }
}

/** Whether the entry was left by somebody else: a browser that loads it again on Back restores what was typed in it. */
function isOfOthers({ left }: DraftEntries, { key, isOthers }: DraftKeeperParts): boolean {
  const former = left.get(key())
  return former !== undefined && isOthers(former)
}

/** A browser that shows an entry again has put back what was chosen in it, without events. */
function takenOf({ left }: DraftEntries, key: string): 'restored' | 'typed' {
  return left.has(key) ? 'restored' : 'typed'
}

function leaveEntry(
  entries: DraftEntries,
  owners: Parameters<DraftEntries['write']>[0],
  { window, typed, key, now }: DraftKeeperParts,
): void {
  if (hasInput(window.document, typed)) entries.left.set(key(), now())
  entries.write(owners)
}

function watchTyping(document: Document, typed: Controls, foreign: () => Controls): void {
  const on = (type: string, hear: (target: EventTarget) => unknown): void =>
    document.addEventListener(type, ({ target }) => target && hear(target), true)
  on('input', (one) => foreign().delete(one))
  // What a form shows then has not been typed.
  on('reset', (form) => controlsIn(form).forEach((one) => typed.delete(one)))
  // The server has it: to restore it by events would send it again, over what is newer.
  on('millrace:saved', (one) => typed.delete(one) && foreign().add(one))
}

/** Takes a former user's page away from whoever comes back to it, where the browser has kept it as it was. */
function watchReturns(
  window: Window,
  page: OwnedPage,
  { leave, comeBack }: Record<'leave' | 'comeBack', () => void>,
): void {
  // This one was loaded for whoever is here now.
  page.isFormer = false
  window.addEventListener('pagehide', () => {
    leave()
    // The browser paints it before scripts run.
    if (page.isFormer) window.document.documentElement.style.setProperty('display', 'none', 'important')
  })
  window.addEventListener('pageshow', ({ persisted }) => {
    // The session may have changed on later pages of this tab.
    if (persisted) comeBack()
    if (page.isFormer) window.location.reload()
  })
}

/** Controls for search params show those of the URL again. */
function restorable({ isTaken, drafts }: KeptDrafts): KeptDrafts['drafts'] {
  return drafts.filter(([address]) => isTaken || !isForSearch(address))
}
