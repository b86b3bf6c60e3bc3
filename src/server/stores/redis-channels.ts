import type { createClient } from '@redis/client'
import { openConnection, type RedisConnection } from './redis-connection.ts'

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
        .then((connection) => connection?.ready?.subscribe(channel, this.#tell))
        .then(this.#parts.onHeard)
        .catch(() => undefined)
    }
    return () => void listeners.delete(listener)
  }

  dispose(): void {
    this.#disposed = true
    this.#connection?.dispose()
  }

  readonly #tell = (message: string, channel: string): void => {
    this.#listeners.get(channel)?.forEach((listener) => listener(message))
  }

  async #connect(): Promise<RedisConnection | undefined> {
    const { loaded, url, pingEveryMs, onHeard } = this.#parts
    const create = await loaded
    if (this.#disposed) return undefined
    return (this.#connection ??= openConnection({
      create,
      url,
      pingEveryMs,
      onReady: (client) => {
        client.subscribe([...this.#listeners.keys()], this.#tell).then(onHeard, () => undefined)
      },
      onFailure: () => undefined, // the connection for commands reports the same failures
    }))
  }
}
