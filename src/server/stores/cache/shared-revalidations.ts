/**
 * Revalidations of all instances, in Redis. Each one advances a clock and marks its targets with the new time; values
 * carry the time before they were made and are valid while no mark over them is later. Marks do not expire, so that
 * Redis evicts none of them and a dropped value cannot return. While Redis is unreachable, revalidations wait in a list of owed targets; if the process
 * ends first, shared values that it would have dropped live until they expire.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { RedisGone, type RedisLink } from '../redis-link.ts'
import { normalTarget, targetsOfData } from './revalidation-targets.ts'

/** Longest life of a shared value. Milliseconds. */
export const LONGEST_MS = 86_400_000
/**
 * 65,536 marks take about 5 MB, no matter how many targets visitors can name. Two targets with the same mark drop each
 * other's shared values, which are made again; the memories of instances receive the exact targets.
 */
const HASH_DIGITS = 4
const MOST_OWED = 1_000 // targets; more become one that drops everything
const TRY_AGAIN_MS = 1_000

const REVALIDATE = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('INCR', KEYS[1])
local now = redis.call('GET', KEYS[1])
for index = 4, #ARGV do redis.call('HSET', KEYS[2], ARGV[index], now) end
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
}

/** Sends and receives revalidations, from construction on. */
export class SharedRevalidations {
  readonly #parts: SharedRevalidationsParts
  readonly #self = randomUUID()
  readonly #clock: string
  readonly #marks: string
  readonly #channel: string
  readonly #unsubscribe: () => void
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
    this.#marks = `${link.prefix}:{data}:marks`
    this.#channel = `${link.prefix}:data`
    this.#unsubscribe = link.subscribe(this.#channel, (text) => {
      const message = readMessage(text)
      if (message === undefined) onMissed()
      else if (message.from !== this.#self) onTargets(message.targets, message.drop)
    })
    link.onConnect(() => {
      onMissed()
      void this.pay()
    })
  }

  /** Drops targets everywhere. Resolves when that is done, or owed. */
  async add(targets: readonly string[], drop: SharedDrop = {}): Promise<void> {
    this.#join(drop)
    for (const target of targets) this.#owed.add(normalTarget(target))
    await this.pay()
  }

  /** Sends what is owed. @returns whether nothing is owed any more. */
  async pay(): Promise<boolean> {
    while (this.#paying !== undefined || this.#owed.size > 0) {
      if (this.#paying === undefined) {
        const targets = [...this.#owed]
        const drop = this.#drop
        this.#owed = new Set()
        this.#drop = { isEarly: true }
        this.#paying = this.#send(targets, drop).finally(() => (this.#paying = undefined))
      }
      if (!(await this.#paying)) return false
    }
    return true
  }

  /** Reads the clock, and the latest mark of some targets. @throws {RedisGone} */
  async ask(targets: readonly string[]): Promise<{ readonly clock: number; readonly latest: number }> {
    const { link } = this.#parts
    const [clock, marks] = await link.run((client) =>
      Promise.all([
        client.get(this.#clock),
        targets.length === 0 ? [] : client.hmGet(this.#marks, targets.map(markOf)),
      ]),
    )
    const latest = Math.max(0, ...marks.map(Number))
    if (clock !== null) return { clock: Number(clock), latest }
    const [, begun] = await link.run((client) =>
      Promise.all([client.set(this.#clock, this.#firstClock(), { condition: 'NX' }), client.get(this.#clock)]),
    )
    return { clock: Number(begun), latest }
  }

  /** Whether those of other instances arrive now. */
  get isHearing(): boolean {
    return this.#parts.link.isHearing(this.#channel)
  }

  dispose(): void {
    clearTimeout(this.#timer)
    this.#unsubscribe()
  }

  #join({ isEarly = false, at = 0 }: SharedDrop): void {
    const { isEarly: areEarly = false, at: last = 0 } = this.#drop
    this.#drop = { isEarly: areEarly && isEarly, at: Math.max(last, at) }
  }

  async #send(targets: readonly string[], drop: SharedDrop): Promise<boolean> {
    const message: Message = { from: this.#self, targets, drop }
    try {
      await this.#parts.link.script({
        lua: REVALIDATE,
        keys: [this.#clock, this.#marks],
        arguments: [this.#firstClock(), this.#channel, JSON.stringify(message), ...targetsOfData(targets).map(markOf)],
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
  return hash('sha256', target, 'hex').slice(0, HASH_DIGITS)
}

/** `undefined` for messages of another version. */
function readMessage(text: string): Message | undefined {
  try {
    const { from, targets, drop = {} } = JSON.parse(text) as Partial<Message>
    const isOne =
      typeof from === 'string' && Array.isArray(targets) && targets.every((each) => typeof each === 'string')
    return isOne ? { from, targets, drop } : undefined
  } catch {
    return undefined
  }
}
