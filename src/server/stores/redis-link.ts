/**
 * The connection to Redis or Valkey, for what instances share. It is never waited for: without it whoever asked is told at
 * once, and does without. It comes back by itself.
 */
import type { createClient } from '@redis/client'
import type { Logger } from 'pino'

/** How long a command may take: a store that is slower is as good as gone, and requests wait behind it. */
const COMMAND_LIMIT_MS = 500
const CONNECT_LIMIT_MS = 2_000
const PING_EVERY_MS = 2_000
const SILENCE_LIMIT_MS = 5_000
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
   * Runs commands. Once one has taken too long, the store counts as gone until it has answered.
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
  /**
   * Called whenever a connection is there again, that of commands or that of subscriptions, and so after the first time
   * too. Messages may have been missed before each call.
   */
  onConnect(listener: () => void): void
  /** Resolves when the first attempt to connect has ended, whichever way. */
  readonly tried: Promise<void>
  /** Ends the connections. Later uses throw {RedisGone}. */
  dispose(): void
}

/**
 * Begins to connect, and goes on trying. The client's code is loaded here and not before: a server without a shared store
 * does without it.
 * @param url `redis:` or `rediss:`, as `REDIS_URL`. It is never written into a log.
 */
export function openRedis(url: string, log: Logger): RedisLink {
  const listeners: (() => void)[] = []
  const channels = new Map<string, Set<(message: string) => void>>()
  const shas = new Map<string, string>()
  const clients: { commands?: RedisClient; subscriptions?: RedisClient } = {}
  let disposed = false
  /** A command has not been answered in time, and none since. */
  let hangs = false
  let complained = false

  const isThere = (): boolean => clients.commands?.isReady === true && !hangs && !disposed

  function complain(error: Error): void {
    // Each attempt fails anew; one line says it.
    if (complained || disposed) return
    complained = true
    log.error({ err: { type: error.name, message: error.message } }, 'the shared store cannot be reached')
  }

  function tell(): void {
    for (const listener of listeners) listener()
  }

  function isBack(): void {
    hangs = false
    if (disposed) return
    if (complained) log.info('the shared store is there again')
    complained = false
    tell()
  }

  /** A server that lives may still have forgotten its scripts; a dead connection is told by its own events. */
  function hasAnswered(): void {
    if (hangs && clients.commands?.isReady === true) isBack()
  }

  const loaded = import('@redis/client').then(({ createClient: create }) => {
    if (disposed) return
    const client = (clients.commands = newClient(create, url))
    client.on('error', complain)
    client.on('ready', () => {
      shas.clear()
      isBack()
    })
    return create
  })
  const tried = loaded.then(() => clients.commands?.connect()).then(() => undefined, complain)

  /** A connection of its own: one that listens can send nothing else. */
  async function listen(channel: string, told: (message: string) => void): Promise<void> {
    const create = await loaded
    if (create === undefined || disposed) return
    if (clients.subscriptions === undefined) {
      const subscriber = (clients.subscriptions = newClient(create, url))
      subscriber.on('error', () => undefined) // the other connection has the same troubles, and tells them
      subscriber.on('ready', () => {
        if (isThere()) tell()
      })
      subscriber.connect().catch(() => undefined)
    }
    await clients.subscriptions.subscribe(channel, told)
  }

  async function run<Result>(work: (by: RedisClient) => Promise<Result>, limitMs = COMMAND_LIMIT_MS): Promise<Result> {
    const client = clients.commands
    if (client === undefined || !isThere()) throw new RedisGone('The shared store cannot be reached')
    const { promise: over, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const error = new RedisGone('The shared store is too slow')
      hangs = true
      complain(error)
      reject(error)
    }, limitMs)
    const result = work(client)
    result.then(hasAnswered, () => undefined)
    try {
      return await Promise.race([result, over])
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
      return isThere()
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
        listen(channel, (message) => set.forEach((each) => each(message))).catch(() => undefined)
      }
      return () => void set.delete(listener)
    },
    onConnect(listener) {
      listeners.push(listener)
      if (isThere()) listener()
    },
    dispose() {
      disposed = true
      clients.commands?.destroy()
      clients.subscriptions?.destroy()
    },
  }
}

function newClient(create: typeof createClient, url: string) {
  return create({
    url,
    // What cannot be sent now is not kept for later: by then its request has been answered without it.
    disableOfflineQueue: true,
    pingInterval: PING_EVERY_MS,
    socket: {
      connectTimeout: CONNECT_LIMIT_MS,
      // So that a connection that died without a word is noticed; pings keep a living one from being idle.
      socketTimeout: SILENCE_LIMIT_MS,
      reconnectStrategy: (attempt) =>
        Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)) + FIRST_PAUSE_MS,
    },
  })
}
