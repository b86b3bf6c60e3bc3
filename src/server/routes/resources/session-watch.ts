/**
 * Ends event streams with the sessions that opened them.
 *
 * | a session                                             | its streams end                                        |
 * |-------------------------------------------------------|--------------------------------------------------------|
 * | on the server: signed out, ended, given a new id      | at once, on all instances                              |
 * | expires, by its age or because nobody uses it         | then                                                   |
 * | in a cookie: is erased                                | when the tab learns of it (`client/hooks/shared-events.ts`) |
 *
 * While the store of sessions is unavailable, streams stay open.
 */
import type { RequestServices } from '../../request/context.ts'
import type { SessionLife } from '../../secrets/session-life.ts'

const LOOK_AGAIN_MS = 5_000 // while the store is unavailable
const LONGEST_TIMER_MS = 3_600_000

/** Watches the sessions of open streams. */
export interface SessionWatch {
  /**
   * @param ended called once, if one of the sessions ends.
   * @returns ends the watch.
   */
  follow(life: SessionLife, ended: () => void): () => void
}

/** Listens to drops from the first session on. */
export function createSessionWatch(services: Pick<RequestServices, 'data' | 'now'>): SessionWatch {
  /** By topic. Bound: sessions of open streams. */
  const followers = new Map<string, Set<() => void>>()
  let isListening = false

  function note(dropped: readonly string[] | undefined): void {
    const concerned = dropped === undefined ? followers.values() : dropped.map((target) => followers.get(target) ?? [])
    for (const some of concerned) for (const look of some) look()
  }

  function join(topic: string, look: () => void): () => void {
    if (!isListening) services.data.onDrop(note)
    isListening = true
    const own = followers.get(topic) ?? new Set()
    followers.set(topic, own.add(look))
    return () => {
      own.delete(look)
      if (own.size === 0 && followers.get(topic) === own) followers.delete(topic)
    }
  }

  return {
    follow(life, ended) {
      let isOver = false
      let timer: NodeJS.Timeout | undefined
      const look = async (): Promise<void> => {
        const until = await life.until().catch(() => services.now() + LOOK_AGAIN_MS)
        if (isOver) return
        if (until === undefined) return ended()
        clearTimeout(timer)
        timer = setTimeout(look, Math.min(Math.max(1, until - services.now()), LONGEST_TIMER_MS)).unref()
      }
      const leave = life.topic === undefined ? undefined : join(life.topic, () => void look())
      void look()
      return () => {
        isOver = true
        clearTimeout(timer)
        leave?.()
      }
    },
  }
}
