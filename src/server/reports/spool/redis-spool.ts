/**
 * The spool that instances share, in Redis streams: at most 128 MiB of envelopes per destination, half of it of one
 * client, none older than seven days. Without room, the largest client loses its oldest, sessions, spans and replays
 * before errors. Keys have no expiry, so Redis evicts none of them; envelopes for a destination to which nobody
 * delivers any more are removed by instances that deliver to another.
 */
import type { RedisClient } from '../../stores/redis-connection.ts'
import { RedisGone, type RedisLink } from '../../stores/redis-link.ts'
import { redisRoom } from '../../stores/redis-memory.ts'
import { lossReport, type Loss } from './outcomes.ts'
import { ACCEPT, EXPIRE, NOTE_DELIVERY, REPORT_LOSSES, SETTLE } from './redis-spool-scripts.ts'
import type { SpoolBounds } from './spool-room.ts'
import type { SpoolOptions } from './spool-store.ts'
import { SpoolFullError, type AcceptedEnvelope } from '../intake/accepted-envelope.ts'
import { kindOf, spooledSize, type LossReason, type Spool, type SpooledEntry } from './spool.ts'

const BOUNDS: SpoolBounds = { bytes: 134_217_728, clientBytes: 67_108_864, ageMs: 7 * 86_400_000 }
const MOST_EVICTED = 2_048 // per call
const EXPIRY_BATCH = 512 // entries: some milliseconds during which Redis blocks
const BYTES_A_MS = 10_000 // for a large envelope, on a network of 80 Mbit a second
const LEAST_LIMIT_MS = 500
const FORGOTTEN_AFTER_MS = 8 * 86_400_000 // longer than anything waits
const SCAN_PAGE = 500
const BLOB = 36 // `$`, the RESP type of strings: requested as bytes

/** Prefix of all keys of a destination; in braces, so that a cluster keeps them on one node. */
export function spoolPrefix({ prefix }: Pick<RedisLink, 'prefix'>, destination: string): string {
  return `${prefix}:spool:{${destination}}`
}

/** A `Spool` in Redis. @throws {RedisGone} from all of its members, and errors of Redis. */
export function createRedisSpool(link: RedisLink, { destination, bounds = BOUNDS }: SpoolOptions): Spool {
  const prefix = spoolPrefix(link, destination)
  /** Destinations, with the moment of their last delivery. */
  const spools = `${link.prefix}:spools`
  const run = (lua: string, given: readonly (string | Buffer)[], limitMs?: number): Promise<unknown> =>
    link.script({ lua, keys: [prefix], arguments: given }, limitMs)

  const limitOf = (bytes: number): number => LEAST_LIMIT_MS + bytes / BYTES_A_MS

  async function kinds(): Promise<readonly string[]> {
    return (await link.run((client) => client.hKeys(`${prefix}:k`))).toSorted()
  }

  /** Marks this destination as active, and deletes inactive ones. */
  async function clearForgotten(now: number): Promise<void> {
    await link.script({ lua: NOTE_DELIVERY, keys: [spools], arguments: [destination, String(now)] })
    const known = await link.run((client) => client.hGetAll(spools))
    for (const [other, at] of Object.entries(known)) {
      if (Number(at) > now - FORGOTTEN_AFTER_MS) continue
      await removeAll(link, spoolPrefix(link, other))
      await link.run((client) => client.hDel(spools, other))
    }
  }

  return {
    async accept(envelope) {
      const { bytes: most, clientBytes: mostOfClient = most } = bounds
      const bytes = Math.min(most, Math.trunc(redisRoom(link, 'spool')))
      const clientBytes = Math.min(mostOfClient, bytes * (mostOfClient / most))
      // For the instance's own disk: waiting would bring no room.
      if (clientBytes < mostOfClient && spooledSize(envelope) > clientBytes)
        throw new RedisGone('Larger than its share')
      const given = [...fieldsOf(envelope), String(bytes), String(clientBytes), String(MOST_EVICTED)]
      const kept = await run(ACCEPT, given, limitOf(envelope.body.length))
      if (kept !== 1) throw new SpoolFullError('bound')
    },

    async size() {
      const { n0 = 0, n1 = 0, b0 = 0, b1 = 0 } = await link.run((client) => client.hGetAll(`${prefix}:t`))
      return { envelopes: Number(n0) + Number(n1), bytes: Number(b0) + Number(b1) }
    },

    lastId: async () => Number((await link.run((client) => client.get(`${prefix}:id`))) ?? 0),

    kinds,

    async list(kind, after, most) {
      const range = (client: RedisClient) =>
        client.xRange(`${prefix}:s:${kind}`, `${after + 1}-0`, '+', { COUNT: most })
      return ((await link.run(range)) ?? []).map(({ id, message }) => toEntry(Number.parseInt(id, 10), kind, message))
    },

    async read(id) {
      const [headers, body] = await link.run(
        (client) => client.withTypeMapping({ [BLOB]: Buffer }).hmGet(`${prefix}:e:${id}`, ['h', 'b']),
        limitOf(20_971_520),
      )
      if (!Buffer.isBuffer(headers) || !Buffer.isBuffer(body)) return undefined
      return { headers: parse(headers.toString()) as Record<string, string>, body }
    },

    async settle({ id, kind, categories, eventId = '' }, lost) {
      await run(SETTLE, [String(id), kind, lost ?? '', JSON.stringify(categories), eventId])
    },

    async expire(now, reasonOf) {
      await clearForgotten(now)
      const reasons = Object.fromEntries((await kinds()).map((kind) => [kind, reasonOf(kind)]))
      const given = [String(now - bounds.ageMs), String(EXPIRY_BATCH), JSON.stringify(reasons)]
      return Number(await run(EXPIRE, given))
    },

    async reportLosses(now) {
      const counted = Object.entries(await link.run((client) => client.hGetAll(`${prefix}:l`)))
      const losses = counted.filter(([, quantity]) => Number(quantity) > 0).map(toLoss)
      if (losses.length === 0) return undefined
      losses.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
      await run(REPORT_LOSSES, [
        ...fieldsOf(lossReport(losses, now)),
        ...losses.flatMap((loss) => [nameOf(loss), String(loss.quantity)]),
      ])
      return Object.fromEntries(losses.map((loss) => [nameOf(loss), loss.quantity]))
    },
  }
}

function fieldsOf(envelope: AcceptedEnvelope): (string | Buffer)[] {
  const { keep, receivedAt, client, eventId = '', categories, headers, body } = envelope
  return [
    kindOf(categories),
    keep === 'error' ? '1' : '0',
    String(Math.trunc(receivedAt)),
    client,
    eventId,
    JSON.stringify(categories),
    String(spooledSize(envelope)),
    JSON.stringify(headers),
    body,
  ]
}

function toEntry(id: number, kind: string, fields: Readonly<Record<string, string>>): SpooledEntry {
  const { client = '', event = '', categories = '{}', bytes = '0' } = fields
  return {
    id,
    kind,
    client,
    eventId: event === '' ? undefined : event,
    categories: parse(categories) as Record<string, number>,
    bytes: Number(bytes),
  }
}

/** Foreign data in Redis must not stop the delivery. */
function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

const nameOf = ({ reason, category }: Loss): string => `${reason} ${category}`

function toLoss([name, quantity]: readonly [string, string]): Loss {
  const [reason = '', ...category] = name.split(' ')
  return { reason: reason as LossReason, category: category.join(' '), quantity: Number(quantity) }
}

async function removeAll(link: RedisLink, prefix: string): Promise<void> {
  // A destination may be `[::1]`, which a pattern would read as a set of characters.
  const pattern = `${prefix.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}:*`
  let cursor = '0'
  do {
    const page = await link.run((client) => client.scan(cursor, { MATCH: pattern, COUNT: SCAN_PAGE }))
    if (page.keys.length > 0) await link.run((client) => client.unlink(page.keys))
    cursor = page.cursor
  } while (cursor !== '0')
}
