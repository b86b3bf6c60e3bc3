/**
 * One connection to Redis or Valkey that is made again whenever it breaks, and also when it only falls silent: a machine
 * that is cut off closes nothing, and bytes that wait to be confirmed keep TCP from noticing for a quarter of an hour.
 *
 * | state      | becomes    | when                                                      |
 * |------------|------------|-----------------------------------------------------------|
 * | connecting | ready      | the server has taken the handshake                        |
 * | connecting | connecting | refused, too slow, silent: after a pause                  |
 * | ready      | connecting | closed, or two pings in a row have not been answered      |
 */
import type { createClient } from '@redis/client'

const CONNECT_LIMIT_MS = 2_000
const SILENCE_LIMIT_MS = 5_000 // of a handshake
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
const MOST_QUEUED = 10_000 // commands; far more than can be answered in time
const PINGS_MISSED = 2 // one may have been answered while this process was busy

/** What commands are called on. */
export type RedisClient = ReturnType<typeof newClient>

/** A connection that is there or not. */
export interface RedisConnection {
  /** What commands can be sent on now; `undefined` while nothing can be sent. */
  readonly ready: RedisClient | undefined
  /** Resolves when the first attempt has ended, whichever way. */
  readonly tried: Promise<void>
  /** Ends it; commands under way fail. */
  dispose(): void
}

/** What a connection is made with. */
export interface RedisConnectionParts {
  /** Of `@redis/client`. */
  readonly create: typeof createClient
  readonly url: string
  /** Milliseconds between two pings. */
  readonly pingEveryMs: number
  /** Told of each success. */
  readonly onReady: (client: RedisClient) => void
  /** Told of each failure. */
  readonly onFailure: (error: Error) => void
}

/** Begins to connect, and goes on trying. */
export function openConnection(parts: RedisConnectionParts): RedisConnection {
  const { pingEveryMs, onReady, onFailure } = parts
  let disposed = false
  let missed = 0
  const tried = Promise.withResolvers<void>()
  let client = make()
  connect()

  function make(): RedisClient {
    const made = newClient(parts.create, parts.url)
    // Of one that has been replaced nothing is to be heard any more.
    const isCurrent = (): boolean => !disposed && client === made
    made.on('error', (error: Error) => {
      tried.resolve()
      if (isCurrent()) onFailure(error)
    })
    made.on('ready', () => {
      tried.resolve()
      missed = 0
      if (isCurrent()) onReady(made)
    })
    return made
  }

  /** It tries for ever, and tells by its events. */
  function connect(): void {
    client.connect().catch(() => undefined)
  }

  const watch = setInterval(() => {
    const asked = client
    if (!asked.isReady) return
    if (missed >= PINGS_MISSED) {
      onFailure(new Error('The shared store does not answer'))
      missed = 0
      client = make()
      connect()
      asked.destroy()
      return
    }
    missed += 1
    asked.ping().then(
      () => {
        if (asked === client) missed = 0
      },
      () => undefined, // the connection has broken, or the server is starting: other events tell
    )
  }, pingEveryMs).unref()

  return {
    get ready() {
      return !disposed && client.isReady ? client : undefined
    },
    tried: tried.promise,
    dispose() {
      disposed = true
      tried.resolve()
      clearInterval(watch)
      client.destroy()
    },
  }
}

function newClient(create: typeof createClient, url: string) {
  return create({
    url,
    // What cannot be sent now is not kept for later: by then its request has been answered without it.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MOST_QUEUED,
    socket: {
      connectTimeout: CONNECT_LIMIT_MS,
      // Any write counts as life, so once pings are sent this does not see a server that has fallen silent.
      socketTimeout: SILENCE_LIMIT_MS,
      reconnectStrategy: (attempt) =>
        Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)) + FIRST_PAUSE_MS,
    },
  })
}
