/**
 * Sessions of signed-in users, kept on the server. Ids are hashes, so a copy of the store signs nobody in. At most
 * 200,000: about 100 MB with half a kilobyte each.
 */
import type { Advance, Store, StoredEntry, StoreEntry, StoreKind } from './store.ts'

/** Entries of `createSessionStore`. */
export const SESSIONS: StoreKind = { name: 'sessions', entries: 200_000, bytes: 268_435_456, keepsValues: true }

/** Longer than a request takes that came with the former cookie, and one that answers with the new one. */
const ROTATION_MS = 600_000
const MOST_TRIES = 8 // of a change, when another one comes in between

/** A session to keep. Times in milliseconds since the epoch. */
export interface NewSession {
  /** Hash of the id in the cookie. */
  readonly id: string
  /** The session's first id, if it has got a new one since. */
  readonly firstId?: string
  /** Its user and kind, in bounded length. */
  readonly user: string
  /** Client that started it, as `clientKey` names it. */
  readonly client: string
  /** JSON. */
  readonly data: string
  /** Marks of its user, as they were when it began. */
  readonly userMarks: string
  /** Bounded. */
  readonly userAgent: string
  readonly startedAt: number
  readonly seenAt: number
  /** Later reads find nothing. */
  readonly expiresAt: number
}

/** A session at rest. */
export interface KeptSession extends NewSession {
  /** As in `StoredEntry`. */
  readonly version: number
  /** As in `StoredEntry`. */
  readonly epoch: number
}

/** A session that has got a new id. */
export interface Rotation {
  readonly user: string
  readonly firstId: string
  /** When, in milliseconds since the epoch; absent if a former build has noted it. */
  readonly at?: number
}

/** Keeps sessions. All members may fail if the store is unavailable. */
export interface SessionStore {
  /** @returns `undefined` if it has ended or expired. */
  read(id: string, now: number): Promise<KeptSession | undefined>
  /**
   * Keeps a new session.
   * @param mostOfUser the user's sessions beyond this number that expire first are ended.
   * @param former session of the user that this one continues.
   * @returns `undefined` if the former one was ended with all sessions of the user.
   */
  start(session: NewSession, mostOfUser: number, former?: KeptSession): Promise<KeptSession | undefined>
  /** Replaces the data. @returns `undefined` if the session has ended; it is not revived. */
  write(session: KeptSession, data: string, now: number): Promise<KeptSession | undefined>
  /** Notes a use. Does nothing if the session has ended, or was changed since it was read. */
  touch(session: KeptSession, use: Pick<KeptSession, 'seenAt' | 'expiresAt'>): Promise<void>
  /** The user's sessions that have not expired, most recently seen first. */
  list(user: string, now: number): Promise<readonly KeptSession[]>
  /**
   * Ends a session of a user by its present id. The ids of others are ignored.
   * @param ifVersion only as it was read: it stays if it was changed since.
   * @returns whether there was one.
   */
  end(user: string, id: string, ifVersion?: number): Promise<boolean>
  /** Ends a session of a user, even if it gets a new id at this moment. @returns whether there was one. */
  endByFirstId(user: string, firstId: string, now: number): Promise<boolean>
  /** Notes that a session is to get a new id, for requests that still come with this one. */
  noteRotation(former: KeptSession, now: number): Promise<void>
  /** @returns what `noteRotation` was given of the session with this id. */
  rotationOf(id: string, now: number): Promise<Rotation | undefined>
  /** What has become of the session that had this id. @returns `'rotated'` if it lasts under another id. */
  stateOf(id: string, now: number): Promise<'kept' | 'rotated' | 'ended'>
  /** Ends all sessions of a user, those included that get a new id at this moment. @param except id of one that stays. */
  endAll(user: string, now: number, except?: string): Promise<Advance>
}

/** A `SessionStore` in a store of `SESSIONS`. */
export function createSessionStore(store: Omit<Store, 'take'>): SessionStore {
  const list = async (user: string, now: number): Promise<KeptSession[]> => (await store.list(user, now)).map(toSession)

  async function rotationOf(id: string, now: number): Promise<Rotation | undefined> {
    const entry = await store.get(rotationKey(id), now)
    return entry && (JSON.parse(entry.value) as Rotation)
  }

  return {
    async read(id, now) {
      const entry = await store.get(id, now)
      return entry && toSession(entry)
    },
    async start(session, mostOfGroup, former) {
      const { seenAt: now } = session
      let epoch = former?.epoch
      for (let tried = 0; tried < MOST_TRIES; tried += 1) {
        const options = { ifAbsent: true, mostOfGroup, ...(epoch !== undefined && { epoch }) }
        const { kept } = await store.put(toEntry(session), now, options)
        if (kept !== undefined) return toSession(kept)
        // Another request of the former one may have ended all others: then it is still there, with a later epoch.
        const known = former && (await store.get(former.id, now))
        if (known === undefined || known.epoch === epoch) return undefined
        epoch = known.epoch
      }
      return undefined
    },
    async write(session, data, now) {
      let known: KeptSession | undefined = session
      for (let tried = 0; known !== undefined && tried < MOST_TRIES; tried += 1) {
        // One that is still there was not ended with the others of its user, whatever epoch it was read with.
        const { kept, found } = await store.put(toEntry({ ...known, data }), now, { ifVersion: known.version })
        if (kept) return toSession(kept)
        known = found && toSession(found)
      }
      if (known !== undefined) throw new Error('The session is changed by too many at once')
      return undefined
    },
    async touch(session, use) {
      await store.put(toEntry({ ...session, ...use }), use.seenAt, { ifVersion: session.version })
    },
    async list(user, now) {
      return (await list(user, now)).toSorted((one, other) => other.seenAt - one.seenAt || (one.id < other.id ? -1 : 1))
    },
    end: (user, id, ifVersion) => store.remove(id, user, ifVersion),
    async endByFirstId(user, firstId, now) {
      let isEnded = await store.remove(firstId, user)
      for (let tried = 0; !isEnded && tried < MOST_TRIES; tried += 1) {
        const ids = (await list(user, now)).filter((one) => one.firstId === firstId)
        if (ids.length === 0) return false
        for (const { id } of ids) if (await store.remove(id, user)) isEnded = true
      }
      return isEnded
    },
    async noteRotation({ id, user, client, firstId = id }, now) {
      const rotation: Rotation = { user, firstId, at: now }
      const expiresAt = now + ROTATION_MS
      await store.put({ key: rotationKey(id), value: JSON.stringify(rotation), group: '', client, expiresAt }, now)
    },
    rotationOf,
    async stateOf(id, now) {
      if ((await store.get(id, now)) !== undefined) return 'kept'
      const rotation = await rotationOf(id, now)
      if (rotation === undefined) return 'ended'
      const isThere = (await list(rotation.user, now)).some(({ firstId }) => firstId === rotation.firstId)
      return isThere ? 'rotated' : 'ended'
    },
    endAll: (user, now, except) => store.advance(user, now, except),
  }
}

type Fixed = Pick<KeptSession, 'userMarks' | 'userAgent' | 'startedAt' | 'seenAt' | 'firstId'>

/** No id begins like this. */
function rotationKey(id: string): string {
  return `rotated:${id}`
}

/** The data is a line of its own: it is JSON already. */
function toEntry({ id, user, client, data, expiresAt, ...rest }: NewSession): StoreEntry {
  const { userMarks, firstId, userAgent, startedAt, seenAt } = rest
  const fixed: Fixed = { userMarks, ...(firstId !== undefined && { firstId }), userAgent, startedAt, seenAt }
  return { key: id, value: `${JSON.stringify(fixed)}\n${data}`, group: user, client, expiresAt }
}

function toSession({ key, value, group, client, expiresAt, version, epoch }: StoredEntry): KeptSession {
  const end = value.indexOf('\n')
  const fixed = JSON.parse(value.slice(0, end)) as Fixed
  return { ...fixed, id: key, user: group, client, data: value.slice(end + 1), expiresAt, version, epoch }
}
