/** Tells a loader's facts that the loader has opened a session, also where it shares a read with others. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Hears that a session was opened. */
export interface SessionListener {
  useSession(): void
}

const listeners = new AsyncLocalStorage<SessionListener>()

/** Runs a function; the listener is called for sessions that it opens, also after awaiting. */
export function watchSessions<Result>(listener: SessionListener, run: () => Result): Result {
  return listeners.run(listener, run)
}

/** A session was opened, or what was read from one is used. */
export function noteSession(): void {
  listeners.getStore()?.useSession()
}
