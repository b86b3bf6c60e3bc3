/**
 * Values that several instances share in Redis.
 *
 * | key, after the link's prefix | holds                                                                            |
 * |------------------------------|----------------------------------------------------------------------------------|
 * | `{data}:clock`               | the clock of revalidations; a lost one restarts at microseconds since the epoch  |
 * | `{data}:drops`               | by the hash of targets, its time when they were last revalidated                 |
 * | `{data}:drops:former`        | the same for those before the last 25,000                                        |
 * | `{data}:marks`               | one mark that drops everything for instances of versions before                  |
 * | `data:BUILD:NAME`            | a value; kept until it expires, at most for a day                                |
 * | channel `data`               | each revalidation, for the memories of all instances                             |
 *
 * Values belong to one build, because code decides their shape. While revalidations are owed to Redis
 * (`shared-revalidations.ts`), no value is read from it or put into it.
 */
import { randomUUID } from 'node:crypto'
import { createByteTurns } from '../../http/byte-turns.ts'
import { createShares } from '../../http/shares.ts'
import { storedKey } from '../stored-key.ts'
import type { KeptValue } from './kept-value.ts'
import { targetsOver } from './revalidation-targets.ts'
import {
  LONGEST_MS,
  SharedRevalidations,
  type SharedDrop,
  type SharedRevalidationsParts,
} from './shared-revalidations.ts'
import { openPacket, packetStart, packValue } from './value-packet.ts'
import { textToValue } from './value-text.ts'

/** Source: RESP, the type of the answer to GET. */
const BLOB_STRING = 36

/**
 * Bytes of values that are compressed or sent, which nobody waits for. Sessions wait on the same connection: 20 MB take
 * 75 ms.
 */
const MOST_SENT_BYTES = 8_388_608

/** Bytes of values that wait for that. Most of them are in memory anyway. */
const MOST_WAITING_BYTES = 33_554_432

/** A value that another instance has put there meanwhile stays. */
const REMOVE_OWN = `
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) == ARGV[1] then redis.call('DEL', KEYS[1]) end`

/** What the shared store knows about a value. */
interface FoundValue {
  /** Absent if there is no valid one. */
  readonly value?: KeptValue
  /** For `put`: the clock at the time of the lookup. */
  readonly clock: number
}

/** Values and revalidations of all instances. No member throws, or waits longer than the link does. */
export interface SharedValues {
  /**
   * Looks up a value.
   * @param tags known so far.
   * @param pathname of the requesting page.
   * @returns `undefined` if the store is unreachable.
   */
  find(name: string, tags: readonly string[], pathname: string): Promise<FoundValue | undefined>
  /**
   * Puts a value, unless too many bytes are on their way, of this client or of all: then other instances make their own.
   * @param client for whom it was made, as `clientKey` names it.
   */
  put(name: string, value: KeptValue, clock: number, client: string): void
  remove(name: string): void
  /** Removes a value if this process has put it. */
  removeOwn(name: string, value: Pick<KeptValue, 'madeAt'>): void
  /** Drops targets everywhere; as `DataCache.revalidate`. Resolves when that is done, or owed. */
  revalidate(targets: readonly string[], drop: SharedDrop): Promise<void>
  /** Whether revalidations of other instances arrive now. */
  readonly isHearing: boolean
  /** Stops listening. */
  dispose(): void
}

interface Waiting {
  readonly value: KeptValue
  readonly clock: number
  readonly client: string
}

/** Options of shared values. */
interface SharedValuesOptions extends SharedRevalidationsParts {
  readonly buildId: string
}

/** Starts to listen to the other instances. */
export function createSharedValues(options: SharedValuesOptions): SharedValues {
  const { link, buildId, now } = options
  const by = randomUUID()
  const revalidations = new SharedRevalidations(options)
  const turns = createByteTurns(MOST_SENT_BYTES)
  const shares = createShares({ most: () => MOST_WAITING_BYTES })
  /** Values that are not sent yet, by name. One that is removed meanwhile must not arrive later. */
  const waiting = new Map<string, Waiting>()

  function dismiss(name: string, madeAt?: number): boolean {
    const known = waiting.get(name)
    if (known === undefined || (madeAt !== undefined && known.value.madeAt !== madeAt)) return false
    waiting.delete(name)
    shares.give(known.client, known.value.text.length)
    return true
  }

  async function send(name: string, given: Waiting): Promise<void> {
    const { value, clock } = given
    const packet = await packValue({ ...value, clock, by })
    const forMs = Math.floor(Math.min(LONGEST_MS, value.madeAt + value.freshMs + value.staleMs - now()))
    // A removal from here on follows on the same connection.
    if (waiting.get(name) !== given || !dismiss(name) || forMs < 1) return
    await link.run((redis) => redis.set(keyOf(name), packet, { expiration: { type: 'PX', value: forMs } }))
  }
  const keyOf = (name: string): string => `${link.prefix}:data:${buildId}:${storedKey(name)}`

  async function open(packet: Buffer, known: readonly string[], latest: number): Promise<KeptValue | undefined> {
    const { head, text } = openPacket(packet)
    const others = head.tags.filter((tag) => !known.includes(tag))
    const last = others.length === 0 ? latest : Math.max(latest, (await revalidations.ask(others)).latest)
    if (last > head.clock) return undefined
    const { tags, madeAt, freshMs, staleMs, ofStale } = head
    const value: KeptValue = { text: await text(), tags, madeAt, freshMs, staleMs, ofStale }
    textToValue(value.text) // throws here instead of in a visitor's answer
    return value
  }

  return {
    async find(name, tags, pathname) {
      if (!link.connected || !(await revalidations.pay())) return undefined
      try {
        // The value first: a target that is dropped between the two commands counts as dropped.
        const [packet, { clock, latest }] = await Promise.all([
          link.run((client) => client.withTypeMapping({ [BLOB_STRING]: Buffer }).get(keyOf(name))),
          revalidations.ask([...tags, ...targetsOver(pathname)]),
        ])
        const value = packet === null ? undefined : await open(packet, tags, latest).catch(() => undefined)
        return value === undefined ? { clock } : { value, clock }
      } catch {
        return undefined
      }
    },
    put(name, value, clock, client) {
      dismiss(name)
      const bytes = value.text.length
      if (shares.take(client, bytes) !== undefined) return
      const { madeAt } = value
      waiting.set(name, { value, clock, client })
      const work = async (): Promise<void> => {
        const known = waiting.get(name)
        if (known?.value.madeAt === madeAt) await send(name, known)
      }
      turns
        .run(client, bytes, work)
        .catch(() => undefined)
        .finally(() => dismiss(name, madeAt))
    },
    remove(name) {
      dismiss(name)
      link.run((client) => client.del(keyOf(name))).catch(() => undefined)
    },
    removeOwn(name, { madeAt }) {
      if (dismiss(name, madeAt)) return
      const lua = REMOVE_OWN
      link.script({ lua, keys: [keyOf(name)], arguments: [packetStart({ by, madeAt })] }).catch(() => undefined)
    },
    revalidate: (targets, drop) => revalidations.add(targets, drop),
    get isHearing() {
      return revalidations.isHearing
    },
    dispose: () => revalidations.dispose(),
  }
}
