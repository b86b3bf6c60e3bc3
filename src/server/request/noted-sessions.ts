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
