import { types } from 'node:util'
import { RefusalSignal } from '../../shared/control-flow.ts'
import type { LateFacts } from '../../shared/protocol/hydration-data.ts'
import { changesOf, NO_SESSION, writeSessionMarks } from '../../shared/protocol/session-marks.ts'
import type { SessionLife } from '../secrets/session-life.ts'

/** Marks of the users of a page, by the name of their session. */
export type PageUsers = ReadonlyMap<string, readonly string[]>

/** @param text marks of the sessions of a page, separated by spaces; of a visitor, so it may be anything. */
export function pageUsers(text: string): PageUsers {
  const users = new Map<string, readonly string[]>()
  for (const mark of text.split(' ')) {
    const at = mark.indexOf(':')
    if (at > 0) users.set(mark.slice(0, at), usersIn(mark.slice(at + 1)))
  }
  return users
}

/** @param mark as `session-marks.ts` has it, without the name. */
function usersIn(mark: string): readonly string[] {
  return mark.split('.').slice(1)
}

/** The sessions that a request has opened, by name. */
export class NotedSessions {
  /** Of those that the request has changed, what they were when it opened them. */
  #first: Map<string, string> | undefined
  readonly #marks = new Map<string, string>()
  readonly #lives = new Map<string, SessionLife>()
  #ofPage: PageUsers | undefined
  /** Whether one of them belongs to a user whose page this is not. */
  isOthers = false
  /** Called when a session is noted. */
  onNote: (() => void) | undefined

  /** @param ofPage unless it is given now or later, all users may call. @throws {RefusalSignal} as `note`. */
  constructor(ofPage?: PageUsers) {
    this.#ofPage = ofPage
  }

  /** Only these users, or nobody, may have called. @throws {RefusalSignal} as `note`. */
  expect(ofPage: PageUsers): void {
    this.#ofPage = ofPage
    for (const [name, mark] of this.#marks) this.#refuseOthers(name, mark)
  }

  /**
   * Replaces what was noted of a session before.
   * @throws {RefusalSignal} if this call is of a page of one user, and the session of a different one.
   */
  note(name: string, mark: string, life: SessionLife): void {
    const former = this.#marks.get(name)
    if (former !== undefined && former !== mark && this.#first?.has(name) !== true)
      (this.#first ??= new Map<string, string>()).set(name, former)
    this.#marks.set(name, mark)
    if (mark === NO_SESSION) this.#lives.delete(name)
    else this.#lives.set(name, life)
    this.onNote?.()
    if (former === undefined) this.#refuseOthers(name, mark)
  }

  #refuseOthers(name: string, mark: string): void {
    const users = this.#ofPage?.get(name) ?? []
    const found = usersIn(mark)
    if (users.length === 0 || found.length === 0 || found.some((user) => users.includes(user))) return
    this.isOthers = true
    throw new RefusalSignal('unauthorized')
  }

  /** As `session-marks.ts` has them. */
  get marks(): string {
    return writeSessionMarks(this.#marks)
  }

  /** Of these, those of users. */
  get marksOfUsers(): string {
    return writeSessionMarks(new Map([...this.#marks].filter(([, mark]) => usersIn(mark).length > 0)))
  }

  /** Whether the request has ended the session of a user, or given it to another one. */
  get hasLeft(): boolean {
    if (this.#first === undefined) return false
    return changesOf(writeSessionMarks(new Map([...this.#marks, ...this.#first])), this.marks)[1]
  }

  /** Those that the request has ended, by name, with what they were. */
  get ended(): readonly (readonly [name: string, mark: string])[] {
    return [...(this.#first ?? [])].filter(([name]) => this.#marks.get(name) === NO_SESSION)
  }

  /** Notes what a former run of this request has ended, unless there is one now. */
  endAgain(ended: NotedSessions['ended']): void {
    for (const [name, mark] of ended) {
      if ((this.#marks.get(name) ?? NO_SESSION) !== NO_SESSION) continue
      this.#marks.set(name, NO_SESSION)
      ;(this.#first ??= new Map<string, string>()).set(name, mark)
    }
    this.onNote?.()
  }

  /** Of the existing ones. */
  get lives(): readonly SessionLife[] {
    return [...this.#lives.values()]
  }
}

/** The parts of a request that note sessions. */
interface SessionNotes {
  readonly audience: { readonly sessions: NotedSessions | undefined }
}

/**
 * The sessions that deferred values open, where none is known yet.
 * @param data of segments.
 */
export function lateSessions(data: readonly unknown[], context: SessionNotes): Promise<LateFacts> | undefined {
  if (context.audience.sessions !== undefined) return undefined
  const deferred = data.flatMap((value) => (isObject(value) ? Object.values(value) : [])).filter(types.isPromise)
  return deferred.length === 0 ? undefined : sessionsAfter(deferred, context)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What is known of the visitor's sessions once these are done. Does not reject. */
export async function sessionsAfter(
  deferred: readonly PromiseLike<unknown>[],
  { audience }: SessionNotes,
): Promise<LateFacts> {
  await Promise.allSettled(deferred)
  const marks = audience.sessions?.marks
  return marks === undefined ? {} : { sessions: marks }
}

/** The part of a request that has to do with sessions. */
interface SessionUser extends SessionNotes {
  forgetReads(): void
}

/**
 * Ends sessions in a request that have ended elsewhere since it has opened them: the end of a slow body is decided long
 * after its beginning was let in.
 * @returns whether there were any; guards must be asked again then.
 * @throws {UnavailableError} if their store cannot be read.
 */
export async function forgetEnded(context: SessionUser): Promise<boolean> {
  let hasEnded = false
  for (const { kept, leftMs } of context.audience.sessions?.lives ?? []) {
    if (kept === undefined || (await leftMs()) !== undefined) continue
    await kept.forget()
    hasEnded = true
  }
  if (hasEnded) context.forgetReads()
  return hasEnded
}
