import { ANSWER_LIMIT_MS, type RedisClient } from './redis-connection.ts'

/** How Redis deals with its memory. */
interface RedisMemory {
  readonly policy: string
  /** Bytes; 0 for no bound. */
  readonly maxmemory: number
}

/** @returns `undefined` if the service does not tell. */
export async function readRedisMemory(client: RedisClient): Promise<RedisMemory | undefined> {
  const info = await client.info('memory')
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  return policy === undefined ? undefined : { policy, maxmemory: Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0) }
}

const PAGE = 1_000 // keys that one step looks at
const MOST_PAGES = 50
const REMOVED_AT_ONCE = 200

/** Sends one command. @throws if it cannot be sent, or its answer takes too long. */
type Send = <Result>(command: (client: RedisClient) => Promise<Result>) => Promise<Result>

/**
 * Deletes some values of loaders, as Redis does itself with the right policy: they can be made again. Each attempt goes
 * on where the last one has stopped. Others fill at once what is freed, and spread over all keys: an attempt that
 * begins where they all have begun finds ever less.
 */
export class ValueRemoval {
  readonly #send: Send
  /** As Redis has told it: good for any later moment. */
  #cursor = '0'

  constructor(send: Send) {
    this.#send = send
  }

  /**
   * Looks at some of the keys, for about `ANSWER_LIMIT_MS` at most. Does not reject.
   * @param prefix of the application's keys.
   * @returns how many values it has deleted.
   */
  async remove(prefix: string): Promise<number> {
    const until = performance.now() + ANSWER_LIMIT_MS
    let removed = 0
    let isLastRound = this.#cursor === '0'
    try {
      for (let page = 0; page < MOST_PAGES && removed < REMOVED_AT_ONCE && performance.now() < until; page += 1) {
        const options = { MATCH: `${prefix}:data:*`, COUNT: PAGE }
        const { keys, cursor } = await this.#send((client) => client.scan(this.#cursor, options))
        this.#cursor = cursor
        if (keys.length > 0) removed += await this.#send((client) => client.unlink(keys))
        if (cursor !== '0') continue
        if (isLastRound) break
        isLastRound = true
      }
    } catch {
      // What has been deleted is room.
    }
    return removed
  }
}
