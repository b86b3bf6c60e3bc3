import { randomBytes } from 'node:crypto'
import { RefusalSignal } from '../../shared/control-flow.ts'
import { clientKey } from '../http/client-key.ts'
import type { KeptSession, NewSession, SessionStore } from '../stores/session-store.ts'
import { checkData, handled, openFlash, type Flash, type Session } from './define-session.ts'
import { NO_SESSION } from '../../shared/protocol/session-marks.ts'
import {
  endOf,
  noteUse,
  readStoredSession,
  renewalOf,
  sentId,
  storedSessionId,
  type CurrentSession,
  type FoundSession,
  type StoredSessionRules,
} from './read-stored-session.ts'
import { RenewedSession } from './renewed-session.ts'
import { sessionTopic } from './session-life.ts'
import type { SessionDevice, StoredSession } from './stored-session.ts'
import { userMarks } from './user-mark.ts'
import { cookieLine, replaceCookie, sealedCookieName, type SessionContext } from './sealed-cookie.ts'

const ID_BYTES = 32
const MOST_AGENT_CHARACTERS = 200
const MOST_TRIES = 8 // of a new id, when the session is changed meanwhile
const MARK_CHARACTERS = 10 // tells sessions of one browser apart

/** A session that is not kept yet. */
interface Beginning {
  readonly session: NewSession
  /** The cookie's value. */
  readonly secret: string
}

/** Reads the session of a request. Notes its use at most once a minute, and waits for that no longer than for the read. */
export async function openStoredSession<Data>(
  context: SessionContext,
  store: SessionStore,
  rules: StoredSessionRules<Data>,
): Promise<StoredSession<Data>> {
  const [found, flash] = await Promise.all([
    readStoredSession(context, store, rules),
    openFlash(rules.name, context, rules.now),
  ])
  const isRead = found !== undefined && 'value' in found
  if (isRead && (context.isPrefetch ?? context.prefetch) !== true) noteUse(found.kept, store, rules)
  return new OpenStoredSession<Data>({ context, store, rules }, flash, found)
}

/** Stays when a session gets a new id. */
function firstIdOf({ id, firstId = id }: KeptSession): string {
  return firstId
}

/** Parts of an open session. */
interface OpenParts<Data> {
  readonly context: SessionContext
  readonly store: SessionStore
  readonly rules: StoredSessionRules<Data>
}

/** Not a literal with a getter: that would outlive its request; see `http/own-getters.ts`. */
class OpenStoredSession<Data> implements StoredSession<Data> {
  readonly flash: Session<Data>['flash']
  readonly takeFlash: Session<Data>['takeFlash']
  readonly #dropFlash: Flash['drop']
  readonly #parts: OpenParts<Data>
  #current: CurrentSession<Data> | undefined
  /** The browser's session, if another build has written what this one does not take: none here, until it is replaced. */
  #unread: KeptSession | undefined
  /** Id of the session that the browser has sent, if there is none. */
  readonly #sent: string | undefined
  /** Thrown if another request has given it a new id: who is signed in cannot be said, but it can be ended or replaced. */
  #renewed: RenewedSession | undefined
  /** Changes run one after the other, in the order of their calls. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: OpenParts<Data>, { flash, takeFlash, drop }: Flash, found: FoundSession<Data>) {
    this.#parts = parts
    this.flash = flash
    this.takeFlash = takeFlash
    this.#dropFlash = drop
    this.#renewed = found instanceof RenewedSession ? found : undefined
    if (found === undefined || this.#renewed) this.#sent = sentId(parts.context, parts.rules.name)
    else if ('value' in found) this.#current = found
    else if ('kept' in found) this.#unread = found.kept
    if (this.#renewed === undefined) this.#note()
  }

  get data(): Readonly<Data> | undefined {
    return this.#known?.value
  }

  get #known(): CurrentSession<Data> | undefined {
    if (this.#renewed !== undefined) throw this.#renewed
    return this.#current
  }

  set(data: Data): Promise<void> {
    return this.#change(() => {
      this.#requireHeaders()
      return this.#set(data)
    })
  }

  renew(): Promise<void> {
    return Promise.resolve()
  }

  clear(): Promise<void> {
    const current = this.#current
    this.#leave()
    this.#dropFlash()
    return this.#change(async () => {
      // A change that began earlier may have started a session since.
      const started = this.#current
      this.#leave()
      for (const one of new Set([current?.kept, started?.kept])) if (one !== undefined) await this.#endWhole(one)
      await this.#endUnread()
    })
  }

  rotate(): Promise<void> {
    return this.#change(async () => {
      const current = this.#known
      if (current === undefined) return
      this.#requireHeaders()
      const { store, rules } = this.#parts
      const { value, kept: former } = current
      const { session, secret } = this.#make(value, former.data, former)
      // One more than allowed for a moment: no other device makes room. If all of them are ended at this moment, so is it.
      const started = (await store.start(session, rules.sessionsPerUser + 1, former)) ?? (await this.#gone(former))
      await store.noteRotation(former, rules.now())
      const kept = await this.#takeOver(started, former)
      this.#adopt(kept === started ? { kept, value } : await this.#checked(kept), secret)
    })
  }

  /** Ends the former session, with what another request has set in it since this one has read it. */
  async #takeOver(started: KeptSession, former: KeptSession): Promise<KeptSession> {
    const { store, rules } = this.#parts
    let kept = started
    let known = former
    for (let tried = 0; tried < MOST_TRIES; tried += 1) {
      if (await store.end(former.user, former.id, known.version)) return kept
      const latest = await store.read(former.id, rules.now())
      // Of two concurrent rotations, and of one and an end, only one finds the former session.
      if (latest === undefined) break
      if (latest.data !== known.data)
        kept = (await store.write(kept, latest.data, rules.now())) ?? (await this.#gone(kept))
      known = latest
    }
    await this.#end(kept)
    return this.#gone(former)
  }

  async #checked(kept: KeptSession): Promise<CurrentSession<Data>> {
    const checked = await checkData(this.#parts.rules.schema, JSON.parse(kept.data))
    if ('fault' in checked) this.#refuse()
    return { kept, value: checked.value }
  }

  async devices(): Promise<readonly SessionDevice[]> {
    const current = this.#known
    if (current === undefined) return []
    const { store, rules } = this.#parts
    const own = current.kept.id
    const sessions = await store.list(current.kept.user, rules.now())
    return sessions.map((one) => {
      const { id, startedAt, seenAt, userAgent } = one
      return { id: firstIdOf(one), isCurrent: id === own, startedAt, seenAt, userAgent }
    })
  }

  end(id: string): Promise<boolean> {
    return this.#change(async () => {
      const current = this.#known
      if (current === undefined) return false
      const { store, rules } = this.#parts
      const isEnded = await store.endByFirstId(current.kept.user, id, rules.now())
      if (id === firstIdOf(current.kept)) this.#leave()
      return isEnded
    })
  }

  endOthers(): Promise<number> {
    return this.#change(async () => {
      const current = this.#known
      if (current === undefined) return 0
      const { store, rules } = this.#parts
      const { kept, value } = current
      const { ended, epoch } = await store.endAll(kept.user, rules.now(), kept.id)
      this.#current = { kept: { ...kept, epoch }, value }
      return ended
    })
  }

  /** Throws if the browser can no longer learn of another session: before the store has it. */
  #requireHeaders(): void {
    const { context } = this.#parts
    if (context.hasBegun === true) void context.headers
  }

  #change<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = handled(result).catch(() => undefined)
    return result
  }

  async #set(data: Data): Promise<void> {
    const { rules, store } = this.#parts
    const text = JSON.stringify(data) as string | undefined
    if (text === undefined) throw new TypeError('A session cannot keep undefined: clear() ends it')
    const bytes = Buffer.byteLength(text)
    if (bytes > rules.maxDataBytes) {
      throw new RangeError(
        `The session would keep ${bytes} bytes, but maxDataBytes is ${rules.maxDataBytes}: ` +
          'keep an id in it, and the rest in a database',
      )
    }
    const checked = await checkData(rules.schema, JSON.parse(text))
    if ('fault' in checked) throw new TypeError(`The session cannot keep this value: ${checked.fault}`)
    const current = this.#current
    const { value } = checked
    if (current !== undefined && rules.userKey(value) === current.kept.user) {
      const kept = (await store.write(current.kept, text, rules.now())) ?? (await this.#gone(current.kept))
      this.#current = { kept, value }
      return
    }
    const { session, secret } = this.#make(value, text)
    const kept = (await store.start(session, rules.sessionsPerUser)) ?? this.#refuse()
    this.#adopt({ kept, value }, secret)
    this.#dropFlash()
    if (current !== undefined) await this.#endWhole(current.kept)
    await this.#endUnread()
  }

  /** Ends what the browser's cookie names where this request could not read it. */
  async #endUnread(): Promise<void> {
    const unread = this.#unread
    this.#unread = undefined
    if (unread !== undefined) return this.#endWhole(unread)
    const sent = this.#sent
    if (sent === undefined) return
    const { store, rules } = this.#parts
    // Another request has given it a new id, and its answer may still be on its way to the browser.
    const rotation = await store.rotationOf(sent, rules.now())
    if (rotation !== undefined) await store.endByFirstId(rotation.user, rotation.firstId, rules.now())
  }

  /** @param former session of the same user that this one continues. */
  #make(value: Data, data: string, former?: KeptSession): Beginning {
    const { context, rules } = this.#parts
    const cookie = sealedCookieName(rules.name, context)
    const secret = randomBytes(ID_BYTES).toString('base64url')
    const seenAt = rules.now()
    const { startedAt = seenAt } = former ?? {}
    const user = rules.userKey(value)
    const session: NewSession = {
      id: storedSessionId(cookie, secret),
      user,
      ...(former !== undefined && { firstId: firstIdOf(former) }),
      userMarks: former?.userMarks ?? userMarks(context, user),
      client: clientKey(context.address ?? ''),
      data,
      userAgent: (context.userAgent ?? '').slice(0, MOST_AGENT_CHARACTERS),
      startedAt,
      seenAt,
      expiresAt: Math.min(seenAt + rules.idleMs, startedAt + rules.maxAgeMs),
    }
    return { session, secret }
  }

  /** The session of this request is the new one, here and in the browser. */
  #adopt(current: CurrentSession<Data>, secret: string): void {
    this.#renewed = undefined
    const { context, rules } = this.#parts
    const cookie = sealedCookieName(rules.name, context)
    const { kept } = (this.#current = current)
    const maxAge = Math.max(1, Math.ceil((kept.startedAt + rules.maxAgeMs - kept.seenAt) / 1_000))
    replaceCookie(context.headers, cookie, cookieLine(cookie, secret, maxAge))
    this.#note()
  }

  #end({ id, user }: KeptSession): Promise<boolean> {
    return this.#parts.store.end(user, id)
  }

  /** Also where another request gives it a new id at this moment, or has done so since it was read. */
  async #endWhole(kept: KeptSession): Promise<void> {
    const { store, rules } = this.#parts
    if (!(await this.#end(kept))) await store.endByFirstId(kept.user, firstIdOf(kept), rules.now())
  }

  /**
   * The session was ended elsewhere while this request ran; or another request of this browser has given it a new id: then the
   * browser has that cookie, or is about to get it.
   */
  async #gone({ id }: KeptSession): Promise<never> {
    const { store, rules } = this.#parts
    if ((await store.stateOf(id, rules.now())) === 'rotated') throw new RenewedSession()
    return this.#refuse()
  }

  /** The cookie stays: somebody may have signed in since, in another tab, and it may be theirs. */
  #refuse(): never {
    this.#forget()
    throw new RefusalSignal('unauthorized')
  }

  /** Forgets the session, here and in the browser. */
  #leave(): void {
    const { context, rules } = this.#parts
    const cookie = sealedCookieName(rules.name, context)
    replaceCookie(context.headers, cookie, cookieLine(cookie, '', 0))
    this.#forget()
  }

  /** Here only: the browser may have a new session already. */
  #forget(): void {
    this.#renewed = undefined
    this.#current = undefined
    this.#note()
  }

  async #forgetEnded(id: string): Promise<void> {
    const { store, rules } = this.#parts
    this.#renewed = await renewalOf(id, store, rules.now())
    if (this.#renewed === undefined) this.#forget()
  }

  #note(): void {
    const { context, store, rules } = this.#parts
    if (context.noteSession === undefined) return
    const { id = '', user = '', userMarks: marks } = this.#current?.kept ?? {}
    const mark = marks === undefined ? NO_SESSION : `${id.slice(0, MARK_CHARACTERS)}.${marks}`
    context.noteSession(rules.name, mark, {
      kept: { id, topic: sessionTopic(user), forget: () => this.#forgetEnded(id) },
      async leftMs() {
        const now = rules.now()
        const kept = await store.read(id, now)
        const left = kept && endOf(kept, rules) - now
        return left !== undefined && left > 0 ? left : undefined
      },
    })
  }
}
