/** How long a session lasts that a request has opened; for answers that stay open. */
export interface SessionLife {
  /** The target of `revalidate` by which processes tell each other that sessions of its user may have ended. */
  readonly topic?: string
  /**
   * @returns when it ends if nothing happens, in milliseconds since the epoch; `undefined` if it has ended. Fails if its
   * store is unavailable.
   */
  until(): Promise<number | undefined>
}

/** The topic of a user's sessions. @param user as `KeptSession` names it. */
export function sessionTopic(user: string): string {
  return `millrace:session ${user}`
}
