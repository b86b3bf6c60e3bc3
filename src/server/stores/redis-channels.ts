import type { createClient } from '@redis/client'
import { openConnection, type RedisClient, type RedisConnection } from './redis-connection.ts'

type Listener = (message: string) => void

/** Parts of the channels. */
interface RedisChannelsParts {
  /** `createClient` of `@redis/client`, once loaded. */
  readonly loaded: Promise<typeof createClient>
  readonly url: string
  /** Milliseconds between two pings. */
  readonly pingEveryMs: number
  /** Called when subscriptions are active, again after each loss. */
  readonly onHeard: () => void
}

/** Subscriptions, on a separate connection: one that listens cannot send commands. */
export class RedisChannels {
  readonly #parts: RedisChannelsParts
  readonly #listeners = new Map<string, Set<Listener>>()
  #connection: RedisConnection | undefined
  #disposed = false
  /** The client that has subscribed, and to which channels. */
  #heardBy: RedisClient | undefined
  #heard = new Set<string>()

  constructor(parts: RedisChannelsParts) {
    this.#parts = parts
  }

  /** As `RedisLink.subscribe`. */
  subscribe(channel: string, listener: Listener): () => void {
    const known = this.#listeners.get(channel)
    const listeners = known ?? new Set()
    listeners.add(listener)
    if (known === undefined) {
      this.#listeners.set(channel, listeners)
      this.#connect()
        .then((connection) => {
          if (connection?.ready !== undefined) return this.#listen(connection.ready, [channel])
          // What came before the first connection is unknown, too.
          return this.#parts.onHeard()
        })
        .catch(() => undefined)
    }
    return () => void listeners.delete(listener)
  }

  dispose(): void {
    this.#disposed = true
    this.#connection?.dispose()
  }

  /** Whether messages of a channel arrive. */
  isHearing(channel: string): boolean {
    const { ready: client, isAnswering } = this.#connection ?? {}
    return isAnswering === true && client !== undefined && client === this.#heardBy && this.#heard.has(channel)
  }

  async #listen(client: RedisClient, channels: string[]): Promise<void> {
    await client.subscribe(channels, this.#tell)
    if (client !== this.#heardBy) this.#heard.clear()
    this.#heardBy = client
    for (const channel of channels) this.#heard.add(channel)
    this.#parts.onHeard()
  }

  readonly #tell = (message: string, channel: string): void => {
    this.#listeners.get(channel)?.forEach((listener) => listener(message))
  }

  async #connect(): Promise<RedisConnection | undefined> {
    const { loaded, url, pingEveryMs } = this.#parts
    const create = await loaded
    if (this.#disposed) return undefined
    return (this.#connection ??= openConnection({
      create,
      url,
      pingEveryMs,
      onReady: (client) => {
        // A client that has reconnected has forgotten what it heard.
        this.#heard.clear()
        this.#listen(client, [...this.#listeners.keys()]).catch(() => undefined)
      },
      onFailure: () => undefined, // the connection for commands reports the same failures
    }))
  }
}
