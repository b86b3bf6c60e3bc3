import type { SessionStore } from '../stores/session-store.ts'
import { storeFault } from './store-fault.ts'

/**
 * Sessions while their store is unavailable: every use fails with 503. There is no store behind it, because a session
 * that was ended must not return.
 * @param open opens the store on first use; a failure is tried again at the next one.
 * @param onChange called when sessions of a user may have ended.
 */
export function failClosed(open: () => SessionStore, onChange: (user: string) => void): SessionStore {
  const ask = async <Result>(work: (store: SessionStore) => Promise<Result>): Promise<Result> => {
    try {
      return await work(open())
    } catch (cause) {
      throw storeFault('sessions', cause)
    }
  }
  const change = async <Result>(user: string, work: (store: SessionStore) => Promise<Result>): Promise<Result> => {
    const result = await ask(work)
    onChange(user)
    return result
  }
  return {
    read: (...given) => ask((store) => store.read(...given)),
    // A new one may have taken the place of another.
    start: (...given) => change(given[0].user, (store) => store.start(...given)),
    write: (...given) => ask((store) => store.write(...given)),
    touch: (...given) => ask((store) => store.touch(...given)),
    list: (...given) => ask((store) => store.list(...given)),
    noteRotation: (...given) => ask((store) => store.noteRotation(...given)),
    stateOf: (...given) => ask((store) => store.stateOf(...given)),
    rotationOf: (...given) => ask((store) => store.rotationOf(...given)),
    end: (...given) => change(given[0], (store) => store.end(...given)),
    endByFirstId: (...given) => change(given[0], (store) => store.endByFirstId(...given)),
    endAll: (...given) => change(given[0], (store) => store.endAll(...given)),
  }
}
