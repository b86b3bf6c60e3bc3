/**
 * One connection to Redis or Valkey that reconnects when it breaks or falls silent: a machine that loses its network
 * closes nothing, and TCP may take a quarter of an hour to notice.
 *
 * | state      | becomes    | when                                                      |
 * |------------|------------|-----------------------------------------------------------|
 * | connecting | ready      | the server has accepted the handshake                     |
 * | connecting | connecting | refused, too slow, silent: after a pause                  |
 * | ready      | connecting | closed, or two pings in a row without an answer           |
 * | ready      | ready      | the server refuses writes, and a new connection leads to a primary |
 *
 * Before that, one ping without an answer says that nothing may arrive: see `UNHEARD_MS`.
 */
import type { createClient } from '@redis/client'

/** Milliseconds between two pings. */
export const PING_EVERY_MS = 2_000

/** Milliseconds. Requests wait for commands: a slower store counts as gone. */
export const ANSWER_LIMIT_MS = 500

/**
 * Milliseconds after which a process knows that a store no longer tells what others drop, though its connection is open:
 * for so long a cached page may be sent that another instance has dropped meanwhile.
 */
export const UNHEARD_MS = PING_EVERY_MS + ANSWER_LIMIT_MS

const CONNECT_LIMIT_MS = 2_000
const SILENCE_LIMIT_MS = 5_000 // during a handshake
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
const LOOK_LIMIT_MS = 2_000 // for a primary, and until the next look
const MOST_QUEUED = 10_000 // commands; far more than can be answered in time
const PINGS_MISSED = 2 // one may have been answered while this process was busy

/** A client of `@redis/client`. */
export type RedisClient = ReturnType<typeof newClient>

/** A connection that is open or not. */
export interface RedisConnection {
  /** The client; `undefined` while nothing can be sent. */
  readonly ready: RedisClient | undefined
  /**
   * Whether the last ping was answered, or may still be. Not for commands: after a busy second of this process, its answer
   * waits to be read, and sessions would be refused.
   */
  readonly isAnswering: boolean
  /** Resolves when the first attempt has succeeded or failed, after 2 seconds at the latest. */
  readonly tried: Promise<void>
  /**
   * The server refuses writes: looks whether a new connection leads to a primary, and moves to it. A proxy or a name may
   * lead there, while the former primary keeps its connections as a replica. Until then, reads and messages go on here.
   */
  lookForPrimary(): void
  /** Ends it; commands without an answer fail. */
  dispose(): void
}

/** Parts of a connection. */
interface RedisConnectionParts {
  /** Of `@redis/client`. */
  readonly create: typeof createClient
  readonly url: string
  /** Milliseconds between two pings. */
  readonly pingEveryMs: number
  /** Called after each success. */
  readonly onReady: (client: RedisClient) => void
  /** Called after each failure. */
  readonly onFailure: (error: Error) => void
}

/** Starts to connect, and keeps trying. */
export function openConnection(parts: RedisConnectionParts): RedisConnection {
  const { pingEveryMs, onReady, onFailure } = parts
  let disposed = false
  let missed = 0
  /** When the first ping without an answer was sent. */
  let askedAt: number | undefined
  const tried = Promise.withResolvers<void>()
  const triedLimit = setTimeout(tried.resolve, CONNECT_LIMIT_MS).unref() // a server may accept and then say nothing
  let client = make()
  connect()

  function make(): RedisClient {
    const made = newClient(parts.create, parts.url)
    // A replaced client must not report any more.
    const isCurrent = (): boolean => !disposed && client === made
    made.on('error', (error: Error) => {
      tried.resolve()
      if (isCurrent()) onFailure(error)
    })
    made.on('ready', () => {
      tried.resolve()
      if (!isCurrent()) return
      answered()
      onReady(made)
    })
    return made
  }

  function answered(): void {
    missed = 0
    askedAt = undefined
  }

  /** The client retries by itself, and its events report. */
  function connect(): void {
    client.connect().catch(() => undefined)
  }

  let isLooking = false
  async function look(): Promise<void> {
    const next = make()
    if (!(await leadsToPrimary(next)) || disposed) return next.destroy()
    const former = client
    client = next
    answered()
    onReady(next)
    former.destroy()
  }

  const watch = setInterval(() => {
    const asked = client
    if (!asked.isReady) return
    if (missed >= PINGS_MISSED) {
      onFailure(new Error('The shared store does not answer'))
      answered()
      client = make()
      connect()
      asked.destroy()
      return
    }
    missed += 1
    askedAt ??= performance.now()
    asked.ping().then(
      () => {
        if (asked === client) answered()
      },
      () => undefined, // the connection is broken or the server is starting: other events report that
    )
  }, pingEveryMs).unref()

  return {
    get ready() {
      return !disposed && client.isReady ? client : undefined
    },
    get isAnswering() {
      return askedAt === undefined || performance.now() - askedAt <= ANSWER_LIMIT_MS
    },
    tried: tried.promise,
    lookForPrimary() {
      if (disposed || isLooking) return
      isLooking = true
      look().catch(() => undefined)
      setTimeout(() => (isLooking = false), LOOK_LIMIT_MS).unref()
    },
    dispose() {
      disposed = true
      tried.resolve()
      clearTimeout(triedLimit)
      clearInterval(watch)
      client.destroy()
    },
  }
}

/** Connects. */
async function leadsToPrimary(client: RedisClient): Promise<boolean> {
  const limit = setTimeout(() => client.destroy(), LOOK_LIMIT_MS)
  try {
    await client.connect()
    const [role] = (await client.sendCommand(['ROLE'])) as unknown as readonly unknown[]
    return role === 'master'
  } catch {
    return false // a service may also forbid to ask
  } finally {
    clearTimeout(limit)
  }
}

function newClient(create: typeof createClient, url: string) {
  return create({
    url,
    // A command that cannot be sent fails immediately: its request is answered without it.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MOST_QUEUED,
    socket: {
      connectTimeout: CONNECT_LIMIT_MS,
      // Every write resets this limit, so once pings are sent it no longer notices a silent server.
      socketTimeout: SILENCE_LIMIT_MS,
      reconnectStrategy: (attempt) =>
        Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)) + FIRST_PAUSE_MS,
    },
  })
}
