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
