import { UnavailableError } from '../api/unavailable-error.ts'
import type { SessionStore } from '../stores/session-store.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * Sessions while their store is unavailable: every use fails with 503. There is no store behind it, because a session
 * that was ended must not return.
 * @param open opens the store on first use; a failure is tried again at the next one.
 */
export function failClosed(open: () => SessionStore): SessionStore {
  const ask = async <Result>(work: (store: SessionStore) => Promise<Result>): Promise<Result> => {
    try {
      return await work(open())
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'unknown'
      const error = new UnavailableError(`The store of sessions cannot be used: ${reason}`, {
        retryAfter: RETRY_AFTER_SECONDS,
      })
      error.cause = cause
      throw error
    }
  }
  return {
    read: (...given) => ask((store) => store.read(...given)),
    start: (...given) => ask((store) => store.start(...given)),
    write: (...given) => ask((store) => store.write(...given)),
    touch: (...given) => ask((store) => store.touch(...given)),
    list: (...given) => ask((store) => store.list(...given)),
    end: (...given) => ask((store) => store.end(...given)),
    endAll: (...given) => ask((store) => store.endAll(...given)),
  }
}
