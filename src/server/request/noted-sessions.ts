import { NO_SESSION, writeSessionMarks } from '../../shared/protocol/session-marks.ts'
import type { SessionLife } from '../secrets/session-life.ts'

/** The sessions that a request has opened, by name. */
export class NotedSessions {
  readonly #marks = new Map<string, string>()
  readonly #lives = new Map<string, SessionLife>()
  /** Called when a session is noted. */
  onNote: (() => void) | undefined

  /** Replaces what was noted of a session before. */
  note(name: string, mark: string, life: SessionLife): void {
    this.#marks.set(name, mark)
    if (mark === NO_SESSION) this.#lives.delete(name)
    else this.#lives.set(name, life)
    this.onNote?.()
  }

  /** As `session-marks.ts` has them. */
  get marks(): string {
    return writeSessionMarks(this.#marks)
  }

  /** Of those that there are. */
  get lives(): readonly SessionLife[] {
    return [...this.#lives.values()]
  }
}

/** The part of a request that has to do with sessions. */
interface SessionUser {
  readonly audience: { readonly sessions: NotedSessions | undefined }
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
    kept.forget()
    hasEnded = true
  }
  if (hasEnded) context.forgetReads()
  return hasEnded
}
