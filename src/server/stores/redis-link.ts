/**
 * The connection to Redis or Valkey, for what instances share. It is never waited for: without it whoever asked is told at
 * once, and does without. It comes back by itself.
 */
import type { Logger } from 'pino'
import { openConnection, type RedisClient, type RedisConnection } from './redis-connection.ts'

/** How long commands may take: a store that is slower is as good as gone, and requests wait behind it. Milliseconds. */
const COMMAND_LIMIT_MS = 500
const PING_EVERY_MS = 2_000

/** There is no connection, or a command took too long. What a command was to change may have been changed. */
export class RedisGone extends Error {
  override readonly name = 'RedisGone'
}

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
  script(script: RedisScript, limitMs?: number): Promise<unknown>
  /**
   * Listens to a channel, over all losses of the connection. What is published meanwhile is not heard.
   * @returns stops listening.
   */
  subscribe(channel: string, listener: (message: string) => void): () => void
  /**
   * Called whenever commands can be sent again, and so after the first time too; and when that has been so and channels
   * are heard again. Messages may have been missed before each call.
   */
  onConnect(listener: () => void): void
  /** Resolves when the first attempt to connect has ended, whichever way. */
  readonly tried: Promise<void>
  /** Ends the connections. Later uses throw {RedisGone}. */
  dispose(): void
}

/** Times of a link; for tests. Milliseconds. */
export interface RedisLinkTimes {
  /** Between two pings. A server that answers two of them in a row no more is left, and connected to anew. */
  readonly pingEveryMs: number
}

/**
 * Begins to connect, and goes on trying. The client's code is loaded here and not before: a server without a shared store
 * does without it.
 * @param url `redis:` or `rediss:`, as `REDIS_URL`. It is never written into a log.
 */
export function openRedis(
  url: string,
  log: Logger,
  { pingEveryMs }: RedisLinkTimes = { pingEveryMs: PING_EVERY_MS },
): RedisLink {
  const listeners: (() => void)[] = []
  const channels = new Map<string, { tell: (message: string) => void; to: Set<(message: string) => void> }>()
  const shas = new Map<string, string>()
  const open: { commands?: RedisConnection; subscriptions?: RedisConnection } = {}
  let disposed = false
  /** A command has not been answered in time, and none since. */
  let hangs = false
  let complained = false

  const usable = (): RedisClient | undefined => (hangs ? undefined : open.commands?.ready)

  function complain(error: Error): void {
    // Each attempt fails anew; one line says it.
    if (complained || disposed) return
    complained = true
    log.error({ err: { type: error.name, message: error.message } }, 'the shared store cannot be reached')
  }

  function tell(): void {
    if (usable() === undefined) return
    for (const listener of listeners) listener()
  }

  function isBack(): void {
    hangs = false
    if (complained) log.info('the shared store is there again')
    complained = false
    tell()
  }

  /** It answers again, but maybe as slowly as before: it is back once a ping comes in time. */
  async function probe(client: RedisClient): Promise<void> {
    const sentAt = performance.now()
    await client.ping()
    if (!hangs || client !== open.commands?.ready) return
    if (performance.now() - sentAt <= COMMAND_LIMIT_MS) isBack()
    else await probe(client)
  }

  function hang(error: Error, client: RedisClient, late: Promise<unknown>): void {
    complain(error)
    if (hangs) return
    hangs = true
    const probing = (): Promise<void> => probe(client)
    late.then(probing, probing).catch(() => undefined) // a broken connection tells itself when it is back
  }

  const loaded = import('@redis/client').then(({ createClient: create }) => {
    if (disposed) return undefined
    open.commands = openConnection({
      create,
      url,
      pingEveryMs,
      onReady: () => {
        shas.clear()
        isBack()
      },
      onFailure: complain,
    })
    return create
  })

  /** A connection of its own: one that listens can send nothing else. */
  async function listen(): Promise<RedisConnection | undefined> {
    const create = await loaded
    if (create === undefined || disposed) return undefined
    return (open.subscriptions ??= openConnection({
      create,
      url,
      pingEveryMs,
      onReady: (client) => {
        const subscribed = [...channels].map(([channel, { tell: told }]) => client.subscribe(channel, told))
        Promise.all(subscribed).then(tell, () => undefined)
      },
      onFailure: () => undefined, // the other connection has the same troubles, and tells them
    }))
  }

  async function run<Result>(work: (by: RedisClient) => Promise<Result>, limitMs = COMMAND_LIMIT_MS): Promise<Result> {
    const client = usable()
    if (client === undefined) throw new RedisGone('The shared store cannot be reached')
    const { promise: over, reject } = Promise.withResolvers<never>()
    const result = work(client)
    const timer = setTimeout(() => {
      const error = new RedisGone('The shared store is too slow')
      hang(error, client, result)
      reject(error)
    }, limitMs)
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
      return usable() !== undefined
    },
    tried: loaded.then(() => open.commands?.tried, complain),
    run,
    script: ({ lua, keys, arguments: given }, limitMs) =>
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
      }, limitMs),
    subscribe(channel, listener) {
      const known = channels.get(channel)
      const to = known?.to ?? new Set()
      to.add(listener)
      if (known === undefined) {
        const told = (message: string): void => to.forEach((each) => each(message))
        channels.set(channel, { tell: told, to })
        listen()
          .then((connection) => connection?.ready?.subscribe(channel, told))
          .then(tell)
          .catch(() => undefined)
      }
      return () => void to.delete(listener)
    },
    onConnect(listener) {
      listeners.push(listener)
      if (usable() !== undefined) listener()
    },
    dispose() {
      disposed = true
      open.commands?.dispose()
      open.subscriptions?.dispose()
    },
  }
}
