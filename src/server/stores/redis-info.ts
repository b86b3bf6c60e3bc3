import type { RedisClient } from './redis-connection.ts'

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

/**
 * Deletes some values of loaders, as Redis does itself with the right policy: they can be made again.
 * @param prefix of the application's keys.
 * @returns how many.
 */
export async function removeValues(client: RedisClient, prefix: string): Promise<number> {
  let removed = 0
  let cursor = '0'
  for (let page = 0; page < MOST_PAGES && removed < REMOVED_AT_ONCE; page += 1) {
    const found = await client.scan(cursor, { MATCH: `${prefix}:data:*`, COUNT: PAGE })
    if (found.keys.length > 0) removed += await client.del(found.keys)
    cursor = found.cursor
    if (cursor === '0') break
  }
  return removed
}
