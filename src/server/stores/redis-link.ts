/**
 * The link to Redis or Valkey, for state that instances share. Nothing waits for it: without a connection calls fail
 * immediately, and callers continue without it. It reconnects by itself.
 */
import { hash } from 'node:crypto'
import type { createClient } from '@redis/client'
import type { Logger } from 'pino'
import { RedisChannels } from './redis-channels.ts'
import { readRedisMemory, ValueRemoval } from './redis-info.ts'
import {
  ANSWER_LIMIT_MS,
  openConnection,
  PING_EVERY_MS,
  type RedisClient,
  type RedisConnection,
} from './redis-connection.ts'

const FREE_EVERY_MS = 1_000 // where there was nothing to free
/** Of a time limit, each begun when the last one has ended: a render that holds the event loop takes one of them only. */
const LIMIT_STEPS = 5

/** There is no connection, or a command took too long; it may still have taken effect. */
export class RedisGone extends Error {
  override readonly name = 'RedisGone'
}

/** A Lua script: the server runs it as one step. */
interface RedisScript {
  /** Constant text: sent once per connection, then called by its checksum. */
  readonly lua: string
  readonly keys: readonly string[]
  readonly arguments: readonly (string | Buffer)[]
}

/** A link that is connected or not. */
export interface RedisLink {
  /**
   * Begins all keys and channels of this application: `millrace:2:0:shop`. Names of channels know no databases, so that
   * the prefix has the number of its own.
   */
  readonly prefix: string
  /** Whether commands can be sent now. */
  readonly connected: boolean
  /** Bytes that Redis may take, as it said when it was last connected; `Infinity` if it did not, or without a bound. */
  readonly maxmemory: number
  /**
   * Runs commands. After one that took too long, the store counts as gone until it answers.
   * @param limitMs for all of them together.
   * @throws {RedisGone} at once without a connection, and when they take too long; also the errors of the commands.
   */
  run<Result>(work: (client: RedisClient) => Promise<Result>, limitMs?: number): Promise<Result>
  /** Runs a script; as `run`. Values of loaders make room for it in a Redis that is full and evicts nothing. */
  script(script: RedisScript, limitMs?: number): Promise<unknown>
  /**
   * Subscribes to a channel, also after each reconnect. Messages published in between are lost.
   * @returns a function that unsubscribes.
   */
  subscribe(channel: string, listener: (message: string) => void): () => void
  /**
   * Whether messages of a channel arrive, as known `UNHEARD_MS` ago at the latest. Those that were missed before are not
   * among them: see `onConnect`.
   */
  isHearing(channel: string): boolean
  /**
   * Called whenever commands can be sent (again), and whenever subscriptions are active (again) after that.
   * @param listener receives whether messages may have been missed before: not if only answers were late.
   */
  onConnect(listener: (mayHaveMissed: boolean) => void): void
  /** Resolves when the first attempt to connect has succeeded or failed, or takes too long. */
  readonly tried: Promise<void>
  /** Ends the connections. Later uses throw {RedisGone}. */
  dispose(): void
}

/** Options of a link. */
export interface RedisLinkOptions {
  /** Name of the application, of which several may share a Redis. Default: `''`. */
  readonly application?: string | undefined
  /** Milliseconds between two pings; for tests. After two unanswered ones in a row, the link reconnects. */
  readonly pingEveryMs?: number
}

const FORMAT = 'millrace:2' // increase when the format of values changes: old and new builds may run side by side
const PLAIN_NAME = /^[\w.@/-]{0,64}$/ // braces would choose the slot of a cluster, and a colon is the end of the name
const MOST_NAME_CHARACTERS = 40 // of a name with its hash

/** Begins all keys and channels of an application. Two names never have the same. */
export function prefixOf(url: string, application: string): string {
  const database = Number(new URL(url).pathname.slice(1))
  if (PLAIN_NAME.test(application)) return `${FORMAT}:${database}:${application}`
  const plain = application.replaceAll(/[^\w.@/-]/g, '_').slice(0, MOST_NAME_CHARACTERS)
  return `${FORMAT}:${database}:${plain}~${hash('sha256', application, 'base64url').slice(0, 22)}`
}

/** The connection for commands. */
class RedisCommands {
  readonly #log: Logger
  readonly #onUsable: (mayHaveMissed: boolean) => void
  /** Its lateness says nothing: it sends many commands, for which only those wait who lack room. */
  readonly #removal = new ValueRemoval((command) => this.#limited(command, ANSWER_LIMIT_MS, () => undefined))
  #freeing: Promise<number> | undefined
  #nothingToFreeAt = -FREE_EVERY_MS
  /** Checksums by which scripts are called. Bound: the scripts in our code. */
  readonly #checksums = new Map<string, string>()
  #connection: RedisConnection | undefined
  /** A command was not answered in time, and none since. */
  #hangs = false
  #complained = false
  #disposed = false

  constructor(log: Logger, onUsable: (mayHaveMissed: boolean) => void) {
    this.#log = log
    this.#onUsable = onUsable
  }

  get client(): RedisClient | undefined {
    return this.#hangs ? undefined : this.#connection?.ready
  }

  /** Whether the store can be used, and has answered lately. */
  get isAnswering(): boolean {
    return this.client !== undefined && this.#connection?.isAnswering === true
  }

  /** @returns resolves when the first attempt has ended, or takes too long. */
  connect(create: typeof createClient, url: string, pingEveryMs: number): Promise<void> | undefined {
    if (this.#disposed) return undefined
    const onReady = (): void => this.#recover(true)
    const onFailure = (error: Error): void => this.complain(error)
    this.#connection = openConnection({ create, url, pingEveryMs, onReady, onFailure })
    return this.#connection.tried
  }

  run<Result>(work: (by: RedisClient) => Promise<Result>, limitMs = ANSWER_LIMIT_MS): Promise<Result> {
    return this.#limited(work, limitMs, (...late) => this.#hang(...late))
  }

  /** Runs a script by its checksum. If the server does not know it, sends the text, which the server then keeps. */
  async runScript(client: RedisClient, { lua, keys, arguments: given }: RedisScript): Promise<unknown> {
    const options = { keys: [...keys], arguments: [...given] }
    try {
      return await client.evalSha(this.#checksumOf(lua), options)
    } catch (thrown) {
      if (!(thrown instanceof Error && thrown.message.startsWith('NOSCRIPT'))) throw thrown
      return client.eval(lua, options)
    }
  }

  /** @returns whether there is more room than before. All who ask meanwhile share one attempt. */
  async makeRoom(prefix: string): Promise<boolean> {
    if (performance.now() - this.#nothingToFreeAt < FREE_EVERY_MS) return false
    this.#freeing ??= this.#removal.remove(prefix).finally(() => (this.#freeing = undefined))
    const freed = await this.#freeing
    if (freed === 0) this.#nothingToFreeAt = performance.now()
    return freed > 0
  }

  /** Logs the first failure since the store was last usable. */
  complain(error: Error): void {
    if (this.#complained || this.#disposed) return
    this.#complained = true
    this.#log.error({ err: { type: error.name, message: error.message } }, 'the shared store cannot be reached')
  }

  dispose(): void {
    this.#disposed = true
    this.#connection?.dispose()
  }

  async #limited<Result>(
    work: (by: RedisClient) => Promise<Result>,
    limitMs: number,
    onLate: (error: Error, client: RedisClient, late: Promise<unknown>) => void,
  ): Promise<Result> {
    const { client } = this
    if (client === undefined) throw new RedisGone('The shared store cannot be reached')
    const { promise: over, reject } = Promise.withResolvers<never>()
    const result = work(client)
    let left = LIMIT_STEPS
    const step = (): void => {
      left -= 1
      if (left > 0) {
        timer = setTimeout(step, limitMs / LIMIT_STEPS)
        return
      }
      const error = new RedisGone('The shared store is too slow')
      onLate(error, client, result)
      reject(error)
    }
    let timer = setTimeout(step, limitMs / LIMIT_STEPS)
    try {
      return await Promise.race([result, over])
    } catch (thrown) {
      if (thrown instanceof Error && thrown.message.startsWith('READONLY')) this.#connection?.lookForPrimary()
      throw !(thrown instanceof RedisGone) && !client.isReady
        ? new RedisGone('The shared store is gone', { cause: thrown })
        : thrown
    } finally {
      clearTimeout(timer)
    }
  }

  #checksumOf(lua: string): string {
    const known = this.#checksums.get(lua)
    if (known !== undefined) return known
    const made = hash('sha1', lua)
    this.#checksums.set(lua, made)
    return made
  }

  #recover(isNew: boolean): void {
    this.#hangs = false
    if (this.#complained) this.#log.info('the shared store is there again')
    this.#complained = false
    this.#onUsable(isNew)
  }

  #hang(error: Error, client: RedisClient, late: Promise<unknown>): void {
    this.complain(error)
    if (this.#hangs) return
    this.#hangs = true
    const probe = (): Promise<void> => this.#probe(client)
    late.then(probe, probe).catch(() => undefined) // a broken connection reports its return itself
  }

  /** A late answer may be followed by others as late: the store is back once a ping is answered in time. */
  async #probe(client: RedisClient): Promise<void> {
    const sentAt = performance.now()
    await client.ping()
    if (!this.#hangs || client !== this.#connection?.ready) return
    if (performance.now() - sentAt <= ANSWER_LIMIT_MS) this.#recover(false)
    else await this.#probe(client)
  }
}

/**
 * Starts to connect, and keeps trying. The client's code is loaded here only, so a server without a shared store never
 * loads it.
 * @param url `redis:` or `rediss:`, as `REDIS_URL`. It is never logged.
 */
export function openRedis(
  url: string,
  log: Logger,
  { application = '', pingEveryMs = PING_EVERY_MS }: RedisLinkOptions = {},
): RedisLink {
  const memory = { max: Infinity }
  const listeners: ((mayHaveMissed: boolean) => void)[] = []
  const tell = (mayHaveMissed: boolean): void => {
    if (commands.client === undefined) return
    for (const listener of listeners) listener(mayHaveMissed)
  }
  const commands = new RedisCommands(log, tell)
  /** Before any other command of a connection: bounds follow from it. */
  async function askMemory(): Promise<void> {
    const told = await commands.run(readRedisMemory).catch(() => undefined) // a service that does not tell
    memory.max = told?.maxmemory || Infinity
  }
  listeners.push(() => void askMemory())
  const loaded = import('@redis/client').then((module) => module.createClient)
  const tried = loaded
    .then(
      (create) => commands.connect(create, url, pingEveryMs),
      (error: Error) => commands.complain(error),
    )
    .then(askMemory)
  const channels = new RedisChannels({ loaded, url, pingEveryMs, onHeard: () => tell(true) })

  const prefix = prefixOf(url, application)

  return {
    prefix,
    get connected() {
      return commands.client !== undefined
    },
    get maxmemory() {
      return memory.max
    },
    tried,
    run: (work, limitMs) => commands.run(work, limitMs),
    async script(script, limitMs) {
      const run = (): Promise<unknown> => commands.run((client) => commands.runScript(client, script), limitMs)
      try {
        return await run()
      } catch (thrown) {
        const isFull = thrown instanceof Error && thrown.message.startsWith('OOM')
        if (isFull && (await commands.makeRoom(prefix))) return run()
        throw thrown
      }
    },
    subscribe: (channel, listener) => channels.subscribe(channel, listener),
    isHearing: (channel) => commands.isAnswering && channels.isHearing(channel),
    onConnect(listener) {
      listeners.push(listener)
      if (commands.client !== undefined) listener(true)
    },
    dispose() {
      commands.dispose()
      channels.dispose()
    },
  }
}
