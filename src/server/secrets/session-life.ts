import { NEWS } from '../stores/cache/revalidation-targets.ts'

/** How long a session lasts that a request has opened; for answers that stay open. */
export interface SessionLife {
  /** Of a session on the server. */
  readonly kept?: {
    /** The same for all requests of the session. */
    readonly id: string
    /** The target of `revalidate` by which processes tell each other that sessions of its user may have ended. */
    readonly topic: string
    /** Makes it no session in this request: it has ended, or has got a new id. */
    forget(): Promise<void>
  }
  /**
   * @returns how long it lasts if nothing happens, in milliseconds on the clock of its kind; `undefined` if it has ended.
   * Fails if its store is unavailable.
   */
  leftMs(): Promise<number | undefined>
}

/** The topic of a user's sessions. @param user as `KeptSession` names it. */
export function sessionTopic(user: string): string {
  return NEWS + user
}
