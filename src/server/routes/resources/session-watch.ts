/**
 * Ends event streams with the sessions that opened them.
 *
 * | a session                                             | its streams end                                        |
 * |-------------------------------------------------------|--------------------------------------------------------|
 * | on the server: signed out, ended, given a new id      | at once, on all instances that hear each other         |
 * | the same, by a process that this one does not hear    | within 20 seconds                                      |
 * | expires, by its age or because nobody uses it         | then                                                   |
 * | in a cookie: is erased                                | when the tab learns of it (`client/hooks/shared-events.ts`) |
 *
 * While the store of sessions is unavailable, streams stay open. A session is looked up once for all of its streams, and
 * again for all drops that arrive meanwhile: a client with many streams must not multiply what a sign-in costs.
 */
import type { RequestServices } from '../../request/context.ts'
import type { SessionLife } from '../../secrets/session-life.ts'

const LOOK_AGAIN_MS = 5_000 // while the store is unavailable
const AT_LEAST_EVERY_MS = 20_000 // processes with one DATA_DIR, as during a deployment, do not hear each other

/** Watches the sessions of open streams. */
export interface SessionWatch {
  /**
   * @param ended called once, if the session ends.
   * @returns ends the watch.
   */
  follow(life: SessionLife, ended: () => void): () => void
}

/** Listens to drops from the first session on the server on. */
export function createSessionWatch(services: Pick<RequestServices, 'data'>): SessionWatch {
  /** By topic and id. Bound: sessions of open streams. */
  const topics = new Map<string, Map<string, WatchedSession>>()
  let isListening = false

  function note(dropped: readonly string[] | undefined): void {
    const concerned = dropped === undefined ? topics.values() : dropped.map((target) => topics.get(target))
    for (const sessions of concerned) for (const session of sessions?.values() ?? []) void session.look()
  }

  function watchedOf({ id, topic }: NonNullable<SessionLife['kept']>): WatchedSession {
    if (!isListening) services.data.onDrop(note)
    isListening = true
    const sessions = topics.get(topic) ?? new Map<string, WatchedSession>()
    topics.set(topic, sessions)
    const known = sessions.get(id)
    if (known !== undefined) return known
    const made = new WatchedSession(() => {
      sessions.delete(id)
      if (sessions.size === 0) topics.delete(topic)
    })
    sessions.set(id, made)
    return made
  }

  return {
    follow(life, ended) {
      const session = life.kept === undefined ? new WatchedSession() : watchedOf(life.kept)
      return session.follow({ life, ended })
    },
  }
}

interface Follower {
  readonly life: SessionLife
  readonly ended: () => void
}

/** A session, and the streams that end with it. */
class WatchedSession {
  readonly #left: () => void
  readonly #followers = new Set<Follower>()
  #timer: NodeJS.Timeout | undefined
  #isLooking = false
  /** Whether it may have ended since the look began. */
  #isStale = false

  /** @param left called when nobody follows it any more. */
  constructor(left: () => void = () => undefined) {
    this.#left = left
  }

  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    void this.look()
    return () => {
      if (!this.#followers.delete(follower) || this.#followers.size > 0) return
      clearTimeout(this.#timer)
      this.#left()
    }
  }

  async look(): Promise<void> {
    this.#isStale = true
    if (this.#isLooking) return
    this.#isLooking = true
    let left: number | undefined = LOOK_AGAIN_MS
    while (this.#isStale && left !== undefined) {
      this.#isStale = false
      const [first] = this.#followers
      left = await first?.life.leftMs().catch(() => LOOK_AGAIN_MS)
    }
    this.#isLooking = false
    clearTimeout(this.#timer)
    if (left === undefined) for (const { ended } of this.#followers) ended()
    else if (this.#followers.size > 0)
      this.#timer = setTimeout(() => void this.look(), Math.min(left, AT_LEAST_EVERY_MS)).unref()
  }
}
