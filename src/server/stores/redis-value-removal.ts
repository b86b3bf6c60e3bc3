import { ANSWER_LIMIT_MS, type RedisClient } from './redis-connection.ts'

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
    let rounds = this.#cursor === '0' ? 1 : 0
    for (let page = 0; page < MOST_PAGES && removed < REMOVED_AT_ONCE; page += 1) {
      try {
        removed += await this.#removePage(`${prefix}:data:*`)
      } catch {
        break // what has been deleted is room
      }
      if (this.#cursor === '0') rounds += 1
      if (rounds > 1 || performance.now() > until) break
    }
    return removed
  }

  async #removePage(pattern: string): Promise<number> {
    const from = this.#cursor
    const { keys, cursor } = await this.#send((client) => client.scan(from, { MATCH: pattern, COUNT: PAGE }))
    this.#cursor = cursor
    return keys.length === 0 ? 0 : this.#send((client) => client.unlink(keys))
  }
}
