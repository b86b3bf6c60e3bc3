/**
 * Remembers calls that carry an idempotency key, so that a call whose answer was lost does not run twice when it is
 * sent again. Kept for ten minutes; at most 100,000 keys and 64 MiB of results.
 */
import type { Store, StoreEntry, StoreKind } from './store.ts'
import { storedKey } from './stored-key.ts'

/** How long a key is remembered: from the start of its call, and again from its end. Milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 600_000

/** A larger result is not kept, nor any that finds no room on the disk. A repeated call is refused then. */
const MOST_BYTES_A_RESULT = 1_048_576

/** Entries of `createIdempotencyStore`: 160 calls a second. */
export const CALLS: StoreKind = { name: 'calls', entries: 100_000, bytes: 67_108_864 }

/** State of a key. */
export type IdempotencyState =
  /** Was unknown; now it is running. */
  | { readonly state: 'new' }
  /** Started and not finished. After a crash it stays like this for ten minutes, because its progress is unknown. */
  | { readonly state: 'running' }
  /** Finished, but its result was too large, or there was no room for it. */
  | { readonly state: 'lost' }
  | { readonly state: 'done'; readonly result: string }

/** Remembers which calls have run. Times are in milliseconds since the epoch. */
export interface IdempotencyStore {
  /**
   * Claims a key. Of several concurrent calls, one gets `new`.
   * @param client that sent the call, as `clientKey` names it; calls without one count as one client.
   */
  begin(key: string, now: number, client?: string): Promise<IdempotencyState>
  /** Whether a key is claimed. */
  has(key: string, now: number): Promise<boolean>
  /** Keeps the result. @param client as for `begin`. */
  finish(key: string, result: string, now: number, client?: string): Promise<void>
  /** Forgets the key, so that the call may run again. */
  abandon(key: string): Promise<void>
}

/** As `DiskRoom`, for one file. */
export interface FileRoom {
  write(bytes: number, work: () => Promise<unknown>): Promise<unknown> | undefined
}

const RUNNING = ''
const DONE = '='
/** It has ended, and its result was not kept. */
const LOST = '-'

/**
 * An `IdempotencyStore` in a store of `CALLS`.
 * @param room of its file, if it is in one.
 */
export function createIdempotencyStore(
  store: Pick<Store, 'get' | 'put' | 'remove'>,
  room: FileRoom = { write: (_bytes, work) => work() },
): IdempotencyStore {
  const entryOf = (key: string, value: string, now: number, client: string): StoreEntry => ({
    key: storedKey(key),
    value,
    group: '',
    client: storedKey(client),
    expiresAt: now + IDEMPOTENCY_LIFETIME_MS,
  })
  return {
    async begin(key, now, client = '') {
      const { kept, found } = await store.put(entryOf(key, RUNNING, now, client), now, { ifAbsent: true })
      if (kept !== undefined || found === undefined) return { state: 'new' }
      if (found.value === RUNNING) return { state: 'running' }
      return found.value === LOST ? { state: 'lost' } : { state: 'done', result: found.value.slice(DONE.length) }
    },
    async has(key, now) {
      return (await store.get(storedKey(key), now)) !== undefined
    },
    async finish(key, result, now, client = '') {
      const bytes = Buffer.byteLength(result)
      const put = (value: string) => store.put(entryOf(key, value, now, client), now)
      const kept = bytes > MOST_BYTES_A_RESULT ? undefined : room.write(bytes, () => put(DONE + result))
      await (kept ?? put(LOST))
    },
    async abandon(key) {
      await store.remove(storedKey(key), '')
    },
  }
}
