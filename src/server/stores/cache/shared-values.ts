/**
 * What the data caches of several instances share in Redis. Nothing is searched for and deleted there: a revalidation sets
 * a clock forward and marks each target with what it says then; a value carries what the clock said before it was made,
 * and counts only while no mark over it is later. Marks outlive values, so that no dropped one can come back.
 *
 * | key                             | holds                                                                         |
 * |---------------------------------|-------------------------------------------------------------------------------|
 * | `millrace:1:{data}:clock`       | the clock; a lost one begins beyond where it can have been: at microseconds since the epoch |
 * | `millrace:1:{data}:marks:HASH`  | what it said when a target of this hash was last revalidated; kept for 25 hours |
 * | `millrace:1:data:BUILD:NAME`    | a value; kept for as long as it may be given out, at most for a day           |
 * | channel `millrace:1:data`       | each revalidation, for the memories of all instances                          |
 *
 * Values belong to one build: what a value looks like is code. Where Redis is away, revalidations are owed to it, and
 * nothing is read from it or put into it before they are paid. An instance that ends while it owes leaves
 * what it has not dropped to its lifetime.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { RedisGone, type RedisLink } from '../redis-link.ts'
import { storedKey } from '../stored-key.ts'
import type { KeptValue } from './kept-value.ts'
import { normalTarget, targetsOver } from './revalidation-targets.ts'
import { openPacket, packValue } from './value-packet.ts'
import { textToValue } from './value-text.ts'

const PREFIX = 'millrace:1:{data}:'
const CLOCK = `${PREFIX}clock`
const CHANNEL = 'millrace:1:data'
const LONGEST_MS = 86_400_000
const MARK_MS = LONGEST_MS + 3_600_000
/**
 * 65,536 marks are some 8 MB, however many targets visitors can have named. Two targets that meet in one drop each other's
 * shared values, which are made again; the memories of instances hear the targets themselves.
 */
const HASH_DIGITS = 4
const MOST_OWED = 1_000 // targets; more than that become all
const TRY_AGAIN_MS = 1_000

/** Source: RESP, the type of what GET answers with. */
const BLOB_STRING = 36

const REVALIDATE = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('INCR', KEYS[1])
local now = redis.call('GET', KEYS[1])
for index = 2, #KEYS do redis.call('SET', KEYS[index], now, 'PX', ARGV[2]) end
redis.call('PUBLISH', ARGV[3], ARGV[4])`

/** What the shared store says of a value. */
export interface FoundValue {
  /** Absent where there is none that counts. */
  readonly value?: KeptValue
  /** For `put`: what the clock said. */
  readonly clock: number
}

/** Values and revalidations of all instances. Nothing of it throws, or waits longer than the link does. */
export interface SharedValues {
  /**
   * Looks for a value.
   * @param tags that are known of it.
   * @param pathname of the page that wants it.
   * @returns `undefined` where the store cannot be asked.
   */
  find(name: string, tags: readonly string[], pathname: string): Promise<FoundValue | undefined>
  /** Puts a value in. */
  put(name: string, value: KeptValue, clock: number): void
  /** Takes a value out. */
  remove(name: string): void
  /** Drops targets everywhere. Resolves when it is done, or will be later. */
  revalidate(targets: readonly string[]): Promise<void>
  /** Stops listening. */
  dispose(): void
}

/** What shared values are made with. */
export interface SharedValuesOptions {
  readonly link: RedisLink
  readonly buildId: string
  readonly log: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Told of what other instances revalidate. */
  readonly onTargets: (targets: readonly string[]) => void
  /** Told when something of that may have been missed. */
  readonly onMissed: () => void
}

/** What instances tell each other. */
interface Message {
  readonly from: string
  readonly targets: readonly string[]
}

/** Begins to listen to the other instances. */
export function createSharedValues(options: SharedValuesOptions): SharedValues {
  const { link, buildId, log, now, onTargets, onMissed } = options
  const self = randomUUID()
  let owed = new Set<string>()
  let paying: Promise<boolean> | undefined
  let timer: NodeJS.Timeout | undefined
  let complained = false
  const keyOf = (name: string): string => `millrace:1:data:${buildId}:${storedKey(name)}`
  const markOf = (target: string): string => `${PREFIX}marks:${hash('sha256', target, 'hex').slice(0, HASH_DIGITS)}`
  const firstClock = (): string => String(now() * 1_000)

  const unsubscribe = link.subscribe(CHANNEL, (text) => {
    const message = readMessage(text)
    if (message === undefined) onMissed()
    else if (message.from !== self) onTargets(message.targets)
  })
  link.onConnect(() => {
    onMissed()
    void pay()
  })

  /** One line, until it works again. Of a store that is away its connection tells. */
  function complain(thrown: unknown): void {
    if (complained || thrown instanceof RedisGone) return
    complained = true
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    log.error(
      { err: { message } },
      'the shared store does not take what is dropped; values are not shared until it does',
    )
  }

  async function send(targets: readonly string[]): Promise<boolean> {
    const message: Message = { from: self, targets }
    try {
      await link.script({
        lua: REVALIDATE,
        keys: [CLOCK, ...targets.map(markOf)],
        arguments: [firstClock(), String(MARK_MS), CHANNEL, JSON.stringify(message)],
      })
      complained = false
      return true
    } catch (thrown) {
      complain(thrown)
      owed = new Set([...targets, ...owed])
      if (owed.size > MOST_OWED) owed = new Set(['/*'])
      // A store that is away tells when it is back; one that refuses to write does not.
      clearTimeout(timer)
      timer = setTimeout(() => void pay(), TRY_AGAIN_MS).unref()
      return false
    }
  }

  /** @returns whether nothing is owed any more. */
  async function pay(): Promise<boolean> {
    while (paying !== undefined || owed.size > 0) {
      if (paying === undefined) {
        const targets = [...owed]
        owed = new Set()
        paying = send(targets).finally(() => (paying = undefined))
      }
      if (!(await paying)) return false
    }
    return true
  }

  /** What the clock said, and the latest mark of some targets. */
  async function ask(targets: readonly string[]): Promise<{ clock: number; latest: number }> {
    const [clock, ...marks] = await link.run((client) => client.mGet([CLOCK, ...targets.map(markOf)]))
    const latest = Math.max(0, ...marks.map(Number))
    if (clock !== null && clock !== undefined) return { clock: Number(clock), latest }
    const [, begun] = await link.run((client) =>
      Promise.all([client.set(CLOCK, firstClock(), { condition: 'NX' }), client.get(CLOCK)]),
    )
    return { clock: Number(begun), latest }
  }

  async function open(packet: Buffer, known: readonly string[], latest: number): Promise<KeptValue | undefined> {
    const { head, text } = openPacket(packet)
    const others = head.tags.filter((tag) => !known.includes(tag))
    const last = others.length === 0 ? latest : Math.max(latest, (await ask(others)).latest)
    if (last > head.clock) return undefined
    const { tags, madeAt, freshMs, staleMs } = head
    const value: KeptValue = { text: await text(), tags, madeAt, freshMs, staleMs }
    // What cannot be read here must not fail where it is given out.
    textToValue(value.text)
    return value
  }

  return {
    async find(name, tags, pathname) {
      if (!link.connected || !(await pay())) return undefined
      try {
        // The value first: what is dropped in between counts as dropped.
        const [packet, { clock, latest }] = await Promise.all([
          link.run((client) => client.withTypeMapping({ [BLOB_STRING]: Buffer }).get(keyOf(name))),
          ask([...tags, ...targetsOver(pathname)]),
        ])
        const value = packet === null ? undefined : await open(packet, tags, latest).catch(() => undefined)
        return value === undefined ? { clock } : { value, clock }
      } catch {
        return undefined
      }
    },
    put(name, value, clock) {
      const { madeAt, freshMs, staleMs } = value
      const forMs = Math.floor(Math.min(LONGEST_MS, madeAt + freshMs + staleMs - now()))
      if (forMs < 1) return
      packValue({ ...value, clock })
        .then((packet) =>
          link.run((client) => client.set(keyOf(name), packet, { expiration: { type: 'PX', value: forMs } })),
        )
        .catch(() => undefined)
    },
    remove(name) {
      link.run((client) => client.del(keyOf(name))).catch(() => undefined)
    },
    async revalidate(targets) {
      for (const target of targets) owed.add(normalTarget(target))
      await pay()
    },
    dispose() {
      clearTimeout(timer)
      unsubscribe()
    },
  }
}

/** `undefined` for what another version may say. */
function readMessage(text: string): Message | undefined {
  try {
    const { from, targets } = JSON.parse(text) as Partial<Message>
    const isOne =
      typeof from === 'string' && Array.isArray(targets) && targets.every((each) => typeof each === 'string')
    return isOne ? { from, targets } : undefined
  } catch {
    return undefined
  }
}
