/**
 * Revalidations of all instances, in Redis. Each one advances a clock and marks its targets with the new time; values
 * carry the time before they were made and are valid while no mark over them is later. Marks do not expire, so that
 * Redis evicts none of them and a dropped value cannot return.
 *
 * Revalidations that Redis does not take wait in a list of owed targets, and meanwhile no value is shared:
 *
 * | Redis              | owed by                                                                          |
 * |--------------------|----------------------------------------------------------------------------------|
 * | is full            | nobody: it takes marks even so                                                   |
 * | cannot be reached  | the process that drops. If it ends first, the values live until they expire      |
 * | refuses all writes | that process, and all that receive its message. One that connects owes a write   |
 */
import { hash, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { RedisGone, type RedisLink } from '../redis-link.ts'
import { NEWS, normalTarget, targetsOfData } from './revalidation-targets.ts'

/** Longest life of a shared value. Milliseconds. */
export const LONGEST_MS = 86_400_000
/**
 * Characters of a hash with six bits each: a visitor who computes targets must not find one that drops what another names.
 */
const MARK_CHARACTERS = 16
/**
 * Marks of a generation. The next mark begins a new one, and the one before is forgotten: what is older counts as dropped.
 * Two of them take about 5 MB, no matter how many targets visitors can name.
 */
const MOST_MARKS = 25_000
const MOST_SENT = 1_000 // targets of a script, for which Redis lets everybody wait
const MOST_OWED = 1_000 // targets; more become one that drops everything
const TRY_AGAIN_MS = 1_000

/** Drops nothing: whether Redis takes it tells whether it may lack marks. */
const PROBE = `${NEWS}probe`

/** What drops everything in versions whose marks had 16 bits. Instances of both may run side by side. */
const MARK_OF_ALL_BEFORE = hash('sha256', '/*', 'hex').slice(0, 4)

/**
 * Fields of the marks besides them: `clock`, its time after the last drop of this version (others advance it too, and mark
 * elsewhere); `floor`, what was made before counts as dropped; `began`, the clock before the generation.
 *
 * The first change is one that Redis allows when it is full; Redis then allows the rest as well, which has its bound.
 */
const REVALIDATE = `
local clock, marks, former, before = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
redis.call('HDEL', marks, 'none')
if redis.call('EXISTS', clock) == 0 then redis.call('SET', clock, ARGV[1]) end
local last = redis.call('GET', clock)
redis.call('INCR', clock)
local now = redis.call('GET', clock)
if redis.call('HGET', marks, 'clock') ~= last then redis.call('HSET', marks, 'floor', last) end
if redis.call('HLEN', marks) > ${MOST_MARKS} then
  local floor = redis.call('HGET', marks, 'floor') or '0'
  local began = redis.call('HGET', marks, 'began') or '0'
  if tonumber(began) > tonumber(floor) then floor = began end
  redis.call('UNLINK', former)
  redis.call('RENAME', marks, former)
  redis.call('HSET', marks, 'floor', floor, 'began', last)
end
redis.call('HSET', marks, 'clock', now)
for index = 4, #ARGV do redis.call('HSET', marks, ARGV[index], now) end
if #ARGV > 3 then
  redis.call('UNLINK', before)
  redis.call('HSET', before, '${MARK_OF_ALL_BEFORE}', now)
end
redis.call('PUBLISH', ARGV[2], ARGV[3])`

/** A drop that instances tell each other. */
export interface SharedDrop {
  /** Whether the same targets are dropped again soon. */
  readonly isEarly?: boolean
  /** As in `DropTimes`; `undefined` from a version that does not tell it. */
  readonly at?: number | undefined
}

/** Parts of the shared revalidations. */
export interface SharedRevalidationsParts {
  readonly link: RedisLink
  readonly log: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Receives targets that other instances revalidate. */
  readonly onTargets: (targets: readonly string[], drop: SharedDrop) => void
  /** Called when some of them may have been missed. */
  readonly onMissed: () => void
}

/** Message between instances. */
interface Message {
  readonly from: string
  readonly targets: readonly string[]
  readonly drop: SharedDrop
  /** Whether Redis refuses the marks: values in it may be dropped ones. */
  readonly isOwed?: boolean | undefined
}

/** Sends and receives revalidations, from construction on. */
export class SharedRevalidations {
  readonly #parts: SharedRevalidationsParts
  readonly #self = randomUUID()
  readonly #clock: string
  readonly #marks: string
  readonly #formerMarks: string
  readonly #marksBefore: string
  readonly #channel: string
  readonly #unsubscribe: () => void
  /** Whether there have been more marks than a generation has. */
  #hasFormer = false
  #owed = new Set<string>()
  /** Of the last of them; early only if all are. */
  #drop: SharedDrop = { isEarly: true }
  #paying: Promise<boolean> | undefined
  #timer: NodeJS.Timeout | undefined
  #complained = false

  constructor(parts: SharedRevalidationsParts) {
    this.#parts = parts
    const { link, onTargets, onMissed } = parts
    this.#clock = `${link.prefix}:{data}:clock`
    this.#marks = `${link.prefix}:{data}:drops`
    this.#formerMarks = `${link.prefix}:{data}:drops:former`
    this.#marksBefore = `${link.prefix}:{data}:marks`
    this.#channel = `${link.prefix}:data`
    this.#unsubscribe = link.subscribe(this.#channel, (text) => {
      const message = readMessage(text)
      if (message === undefined) return onMissed()
      const { from, targets, drop, isOwed } = message
      if (from === this.#self) return undefined
      if (isOwed === true) void this.#owe(targets, drop)
      return onTargets(targets, drop)
    })
    link.onConnect((mayHaveMissed) => {
      if (mayHaveMissed) onMissed()
      void this.#owe([PROBE], { isEarly: true })
    })
  }

  /** Drops targets everywhere. Resolves when that is done, or owed. */
  async add(targets: readonly string[], drop: SharedDrop = {}): Promise<void> {
    if (await this.#owe(targets, drop)) return
    // Those who hear need not wait for a Redis that takes no writes, such as one that has become a replica.
    const message = this.#message(targets, drop, true)
    await this.#parts.link.run((client) => client.publish(this.#channel, message)).catch(() => undefined)
  }

  /** Sends what is owed. @returns whether nothing is owed any more. */
  async pay(): Promise<boolean> {
    while (this.#paying !== undefined || this.#owed.size > 0) {
      if (this.#paying === undefined) {
        const targets = [...this.#owed].slice(0, MOST_SENT)
        const drop = this.#drop
        for (const target of targets) this.#owed.delete(target)
        if (this.#owed.size === 0) this.#drop = { isEarly: true }
        this.#paying = this.#send(targets, drop).finally(() => (this.#paying = undefined))
      }
      if (!(await this.#paying)) return false
    }
    return true
  }

  /**
   * Reads the clock, and the latest drop of some targets, or of what may be one of them.
   * @throws {RedisGone}
   */
  async ask(targets: readonly string[]): Promise<{ readonly clock: number; readonly latest: number }> {
    const { link } = this.#parts
    const marks = targets.map(markOf)
    const hasFormer = this.#hasFormer && marks.length > 0
    // In this order: a drop between two of them is seen, or counts as one of another version.
    const [clock, [counted, began, ...current], former] = await link.run((client) =>
      Promise.all([
        client.get(this.#clock),
        client.hmGet(this.#marks, ['clock', 'began', 'floor', ...marks]),
        hasFormer ? client.hmGet(this.#formerMarks, marks) : [],
      ]),
    )
    if (typeof began === 'string' && !this.#hasFormer) {
      this.#hasFormer = true
      return this.ask(targets)
    }
    const latest = Math.max(0, ...current.map(Number), ...former.map(Number))
    const now = clock ?? (await this.#beginClock())
    // Another version has dropped something since.
    return { clock: Number(now), latest: Number(now) > Number(counted) ? Number(now) : latest }
  }

  async #beginClock(): Promise<string | null> {
    const [, begun] = await this.#parts.link.run((client) =>
      Promise.all([client.set(this.#clock, this.#firstClock(), { condition: 'NX' }), client.get(this.#clock)]),
    )
    return begun
  }

  /** Whether those of other instances arrive now. */
  get isHearing(): boolean {
    return this.#parts.link.isHearing(this.#channel)
  }

  dispose(): void {
    clearTimeout(this.#timer)
    this.#unsubscribe()
  }

  /** @returns as `pay`. */
  #owe(targets: readonly string[], drop: SharedDrop): Promise<boolean> {
    this.#join(drop)
    for (const target of targets) this.#owed.add(normalTarget(target))
    return this.pay()
  }

  #join({ isEarly = false, at = 0 }: SharedDrop): void {
    const { isEarly: areEarly = false, at: last = 0 } = this.#drop
    this.#drop = { isEarly: areEarly && isEarly, at: Math.max(last, at) }
  }

  #message(targets: readonly string[], drop: SharedDrop, isOwed?: boolean): string {
    return JSON.stringify({ from: this.#self, targets, drop, isOwed } satisfies Message)
  }

  async #send(targets: readonly string[], drop: SharedDrop): Promise<boolean> {
    try {
      await this.#parts.link.script({
        lua: REVALIDATE,
        keys: [this.#clock, this.#marks, this.#formerMarks, this.#marksBefore],
        arguments: [
          this.#firstClock(),
          this.#channel,
          this.#message(targets, drop),
          ...targetsOfData(targets).map(markOf),
        ],
      })
      this.#complained = false
      return true
    } catch (thrown) {
      this.#complain(thrown)
      this.#owed = new Set([...targets, ...this.#owed])
      this.#join(drop)
      if (this.#owed.size > MOST_OWED) this.#owed = new Set(['/*'])
      // A lost connection reports its return; a store that refuses writes does not.
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.pay(), TRY_AGAIN_MS).unref()
      return false
    }
  }

  /** Logs once until it works again. The connection itself logs its loss. */
  #complain(thrown: unknown): void {
    if (this.#complained || thrown instanceof RedisGone) return
    this.#complained = true
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    this.#parts.log.error(
      { err: { message } },
      'the shared store does not take what is dropped; values are not shared until it does',
    )
  }

  /** Later than any lost clock can have been. */
  #firstClock(): string {
    return String(this.#parts.now() * 1_000)
  }
}

function markOf(target: string): string {
  return hash('sha256', target, 'base64url').slice(0, MARK_CHARACTERS)
}

/** `undefined` for messages of another version. */
function readMessage(text: string): Message | undefined {
  try {
    const { from, targets, drop = {}, isOwed } = JSON.parse(text) as Partial<Message>
    const isOne =
      typeof from === 'string' && Array.isArray(targets) && targets.every((each) => typeof each === 'string')
    return isOne ? { from, targets, drop, isOwed } : undefined
  } catch {
    return undefined
  }
}
