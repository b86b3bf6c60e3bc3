/**
 * The connection to Redis or Valkey, for what instances share. It is never waited for: without it whoever asked is told at
 * once, and does without. It comes back by itself.
 */
import { createClient } from '@redis/client'
import type { Logger } from 'pino'

/** How long a command may take: a store that is slower is as good as gone, and requests wait behind it. */
const COMMAND_LIMIT_MS = 500
const CONNECT_LIMIT_MS = 2_000
const PING_EVERY_MS = 5_000 // so that a connection that died without a word is noticed
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000

/** There is no connection, or a command took too long. What a command was to change may have been changed. */
export class RedisGone extends Error {
  override readonly name = 'RedisGone'
}

/** What commands are called on. */
export type RedisClient = ReturnType<typeof newClient>

/** A Lua script: the server runs it as one step. */
export interface RedisScript {
  /** Constant text: it is sent once, and named by its checksum from then on. */
  readonly lua: string
  readonly keys: readonly string[]
  readonly arguments: readonly (string | Buffer)[]
}

/** A connection that is there or not. */
export interface RedisLink {
  /** Whether commands can be sent now. */
  readonly connected: boolean
  /**
   * Runs commands.
   * @param limitMs how long they may take altogether.
   * @throws {RedisGone} at once without a connection, and when they take too long; else what a command throws.
   */
  run<Result>(work: (client: RedisClient) => Promise<Result>, limitMs?: number): Promise<Result>
  /** Runs a script; as `run`. */
  script(script: RedisScript): Promise<unknown>
  /**
   * Listens to a channel, over all losses of the connection. What is published meanwhile is not heard.
   * @returns stops listening.
   */
  subscribe(channel: string, listener: (message: string) => void): () => void
  /** Called whenever the connection is there again, and so after the first time too. */
  onConnect(listener: () => void): void
  /** Resolves when the first attempt to connect has ended, whichever way. */
  readonly tried: Promise<void>
  /** Ends the connections. Later uses throw {RedisGone}. */
  dispose(): void
}

/**
 * Begins to connect, and goes on trying.
 * @param url `redis:` or `rediss:`, as `REDIS_URL`. It is never written into a log.
 */
export function openRedis(url: string, log: Logger): RedisLink {
  const client = newClient(url)
  const listeners: (() => void)[] = []
  const channels = new Map<string, Set<(message: string) => void>>()
  const shas = new Map<string, string>()
  let subscriber: RedisClient | undefined
  let disposed = false
  let complained = false

  client.on('error', (error: Error) => {
    // Each attempt fails anew; one line says it.
    if (complained || disposed) return
    complained = true
    log.error({ err: { type: error.name, message: error.message } }, 'the shared store cannot be reached')
  })
  client.on('ready', () => {
    shas.clear()
    if (complained) log.info('the shared store is there again')
    complained = false
    for (const listener of listeners) listener()
  })
  const tried = client.connect().then(
    () => undefined,
    () => undefined,
  )

  /** A connection of its own: one that listens can send nothing else. */
  function listening(): RedisClient {
    if (subscriber === undefined) {
      subscriber = newClient(url)
      subscriber.on('error', () => undefined) // the other connection has the same troubles, and tells them
      subscriber.connect().catch(() => undefined)
    }
    return subscriber
  }

  async function run<Result>(work: (by: RedisClient) => Promise<Result>, limitMs = COMMAND_LIMIT_MS): Promise<Result> {
    if (disposed || !client.isReady) throw new RedisGone('The shared store cannot be reached')
    const { promise: over, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new RedisGone('The shared store is too slow')), limitMs)
    try {
      return await Promise.race([work(client), over])
    } catch (thrown) {
      throw !(thrown instanceof RedisGone) && !client.isReady
        ? new RedisGone('The shared store has gone', { cause: thrown })
        : thrown
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    get connected() {
      return client.isReady
    },
    tried,
    run,
    script: ({ lua, keys, arguments: given }) =>
      run(async (by) => {
        const options = { keys: [...keys], arguments: [...given] }
        const known = shas.get(lua)
        if (known !== undefined) {
          try {
            return await by.evalSha(known, options)
          } catch (thrown) {
            // The server has been restarted behind a proxy, or was told to forget.
            if (!(thrown instanceof Error && thrown.message.startsWith('NOSCRIPT'))) throw thrown
          }
        }
        shas.set(lua, await by.scriptLoad(lua))
        return by.eval(lua, options)
      }),
    subscribe(channel, listener) {
      const known = channels.get(channel)
      const set = known ?? new Set()
      set.add(listener)
      if (known === undefined) {
        channels.set(channel, set)
        const tell = (message: string): void => set.forEach((each) => each(message))
        listening()
          .subscribe(channel, tell)
          .catch(() => undefined)
      }
      return () => void set.delete(listener)
    },
    onConnect(listener) {
      listeners.push(listener)
      if (client.isReady) listener()
    },
    dispose() {
      disposed = true
      client.destroy()
      subscriber?.destroy()
    },
  }
}

function newClient(url: string) {
  return createClient({
    url,
    // What cannot be sent now is not kept for later: by then its request has been answered without it.
    disableOfflineQueue: true,
    pingInterval: PING_EVERY_MS,
    socket: {
      connectTimeout: CONNECT_LIMIT_MS,
      reconnectStrategy: (attempt) =>
        Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)) + FIRST_PAUSE_MS,
    },
  })
}
