import type { DraftKeeper, DraftKeeperParts } from './draft-starter.ts'
import { controlsIn, disown, readDrafts, restoreDrafts, type Controls, type Draft, type Drafts } from './drafts.ts'

/** Drafts of a history entry. */
interface KeptDrafts {
  /** Of the page. */
  readonly pathname: string
  /** The page was taken away from the visitor: any entry that shows it next gets them. */
  readonly isTaken: boolean
  readonly drafts: readonly (readonly [address: string, draft: Draft])[]
}

const MAX_ENTRIES = 20 // with 65,536 characters each, a quarter of what browsers store for a site
const SOME_SESSION = '+' // as in `session-marks.ts`; the router must not share a file with this code
const MARK = /([\w-]+):([\w+-]+)\.?([\w-]*)/g

/**
 * Restores the input that the previous document saved, and watches typing from now on. Bound: `MAX_ENTRIES` entries, the
 * oldest are dropped first. Lifetime: that of the tab; in the storage only while no document of the site is shown.
 */
export function keepDrafts(parts: DraftKeeperParts): DraftKeeper {
  const { window, storage, name, pathname, key, typed } = parts
  let { kind } = parts
  const { document } = window
  const entries = new Map<string, KeptDrafts>()
  const { owners, judge, learn } = createOwners(() => keep(true), drop)
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
    const at = key()
    const drafts = new Map(pending)
    readDrafts(document, drafts, kind, { typed, foreign })
    const kept = { pathname: pathname(), isTaken: isTaken || !!entries.get(at)?.isTaken, drafts: [...drafts] }
    entries.delete(at)
    if (drafts.size > 0) entries.set(at, kept)
    if (entries.size > MAX_ENTRIES) dropOldest(entries)
  }

  function show(isTraversal: boolean): void {
    const path = pathname()
    const at = key()
    const [from = at, found] =
      [...entries].findLast(
        ([one, { pathname: of, isTaken }]) => of === path && (isTaken || (one === at && (isTraversal || kind !== ''))),
      ) ?? []
    if (found || shown !== at) pending = new Map(found?.drafts)
    shown = at
    entries.delete(at)
    entries.delete(from)
    if (found && kind) entries.set(at, { ...found, isTaken: true })
    // Without a session of the runtime, nobody knows who will be signed in next.
    if (kind === 'unauthorized' && owners.size === 0) drop()
    restore()
  }

  /** @param isEmptied whether the page on screen must not show it either. */
  function drop(isEmptied = false): void {
    entries.clear()
    pending.clear()
    foreign = disown(document, typed, isEmptied)
  }

  function read(): void {
    const [whose, kept] = readStored(storage, name)
    for (const [session, who] of whose) judge(session, who)
    for (const [at, one] of kept) entries.set(at, one)
  }

  function start(): void {
    show(true)
    isRestored = true
  }

  const options = { capture: true, passive: true }
  document.addEventListener('input', ({ target }) => target && foreign.delete(target), options)
  // What a form shows then has not been typed.
  document.addEventListener('reset', ({ target }) => controlsIn(target).forEach((one) => typed.delete(one)), options)
  window.addEventListener('pagehide', () => writeStored(storage, name, owners, entries))
  window.addEventListener('pageshow', ({ persisted }) => persisted && read())
  read()
  learn(parts.marks)
  if (document.readyState === 'complete') start()
  else window.addEventListener('load', start, { once: true })
  return {
    save: (path = pathname()) => keep(path === pathname()),
    leaving(caught) {
      keep()
      if (caught === undefined) return
      pending = new Map(entries.get(key())?.drafts)
      kind ||= caught
      // Its controls are still in the document.
      observe()
    },
    arrived(next, isTraversal) {
      kind = next
      show(isTraversal)
    },
    learn,
  }
}

/**
 * Whose the drafts are, by the name of the session: empty for visitors who have never been signed in.
 * @param signedOut called when nobody is signed in any more.
 * @param changed called when somebody else is; `isEmptied` as for `drop`.
 */
function createOwners(signedOut: () => void, changed: (isEmptied: boolean) => void) {
  const owners = new Map<string, string>()
  let marks = ''

  /** @param who is signed in by this kind of session; empty for nobody. */
  function judge(session: string, who: string, isCall = false): void {
    const owner = owners.get(session)
    if (owner && (who ? who !== owner : owner === SOME_SESSION)) {
      changed(who !== '' && !isCall)
      owners.delete(session)
    }
    owners.set(session, who || (owners.get(session) ?? ''))
  }

  function learn(text = marks, isCall?: boolean): void {
    if (text === marks) return
    marks = text
    for (const [, session = '', mark, user] of text.matchAll(MARK)) {
      const isNobody = mark === '-'
      // The page may be about to be taken away.
      if (isNobody && owners.get(session)) signedOut()
      judge(session, isNobody ? '' : user || SOME_SESSION, isCall)
    }
  }

  return { owners, judge, learn }
}

function dropOldest(entries: Map<string, KeptDrafts>): void {
  for (const [oldest] of entries) return void entries.delete(oldest)
}

/** Owners and entries of the former document; clears the storage. */
function readStored(
  storage: Storage | undefined,
  name: string,
): readonly [owners: readonly (readonly [string, string])[], entries: readonly (readonly [string, KeptDrafts])[]] {
  try {
    const text = storage?.getItem(name) ?? '[[],[]]'
    storage?.removeItem(name)
    const [owners, entries] = JSON.parse(text) as ReturnType<typeof readStored>
    return [[...owners], entries.filter(([, { drafts }]) => Array.isArray(drafts))]
  } catch {
    // Another script or version has left something else there.
    return [[], []]
  }
}

/** Stores what there is room for. */
function writeStored(
  storage: Storage | undefined,
  name: string,
  owners: ReadonlyMap<string, string>,
  entries: Map<string, KeptDrafts>,
): void {
  while (entries.size > 0) {
    try {
      storage?.setItem(name, JSON.stringify([[...owners], [...entries]]))
      return
    } catch {
      // A full or forbidden storage.
      dropOldest(entries)
    }
  }
}
