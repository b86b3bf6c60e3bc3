const SOME_SESSION = '+' // as in `session-marks.ts`; the router must not share a file with this code
const MARK = /([\w-]+):([\w+-]+)\.?([\w.-]*)/g

/** Who has the session of a name. */
export interface Owner {
  /** Marks of the user, separated by dots; empty for visitors who have never been signed in. Without a user, `+` and the session's mark. */
  readonly who: string
  /** The owner has signed out. */
  readonly isOut: boolean
}

/** The page on screen. */
export interface OwnedPage {
  /** It may show what a former user may read. */
  isFormer: boolean
}

interface OwnerListener {
  /** An owner has signed out. */
  left(): void
  /** All owners are signed in again. */
  back(): void
  /** A different user has signed in. */
  changed(): void
  /** The same on a page that was loaded after the owner had left: what is typed there is nobody's. */
  forget(): void
}

/** What a tab knows of the owners of its drafts. */
export interface Ownership {
  /** By the name of their session. */
  readonly owners: ReadonlyMap<string, Owner>
  readonly page: OwnedPage
  /** @param former owners, as the former document has known them. */
  inherit(former: ReadonlyMap<string, Owner>): void
  /** @param text as `DraftKeeper.learn`. */
  learn(text: string | undefined): void
}

/** Whose the drafts are, by the name of the session. */
export function createOwners({ left, back, changed, forget }: OwnerListener): Ownership {
  const owners = new Map<string, Owner>()
  const page: OwnedPage = { isFormer: false }
  let marks = ''
  /** What `page.isFormer` becomes when all owners are back. */
  let wasFormer = false

  /** @param who is signed in by this kind of session; empty for nobody. */
  function judge(session: string, who: string): void {
    const { who: owner = '', isOut } = owners.get(session) ?? {}
    const isOther = owner && (who ? !who.split('.').some((mark) => owner.includes(mark)) : owner[0] === SOME_SESSION)
    const isAway = !isOther && !who && !!owner
    if (isOther && isOut && !page.isFormer) {
      owners.set(session, { who, isOut: false })
      return forget()
    }
    if (isAway && ![...owners.values()].some((one) => one.isOut)) wasFormer = page.isFormer
    if (isOther) wasFormer = true
    owners.set(session, { who: isAway ? owner : who, isOut: isAway })
    // If the owner is out, it has been since then, unless it was loaded again.
    page.isFormer ||= !isOut && (!!isOther || isAway)
    if (isOther) changed()
    else if (isAway && !isOut) left()
    else if (isOut && [...owners.values()].every((one) => !one.isOut)) {
      page.isFormer = wasFormer
      back()
    }
  }

  function learn(text = marks): void {
    if (text === marks) return
    marks = text
    for (const { index, 1: session = '', 2: mark, 3: user } of text.matchAll(MARK)) {
      // What another tab knew before is news only to a tab that knew nothing.
      if (index < text.indexOf('\n') && owners.has(session)) continue
      judge(session, mark === '-' ? '' : user || SOME_SESSION + mark)
    }
  }

  function inherit(former: ReadonlyMap<string, Owner>): void {
    for (const [session, { who, isOut }] of former) {
      const own = owners.get(session)
      if (own?.who === who && own.isOut === isOut) continue
      judge(session, who)
      if (isOut) judge(session, '')
    }
  }

  return { owners, page, inherit, learn }
}
