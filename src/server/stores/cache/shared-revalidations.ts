/**
 * Revalidations of all instances, in Redis. Each one advances a clock and marks its targets with the new time; values carry
 * the time before they were made and are valid while no mark over them is later. Marks outlive values, so a dropped value
 * cannot return. While Redis is away, revalidations are owed to it; if this process ends owing, values that it did not
 * drop live until they expire.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { RedisGone, type RedisLink } from '../redis-link.ts'
import { normalTarget } from './revalidation-targets.ts'

const PREFIX = 'millrace:1:{data}:'
const CLOCK = `${PREFIX}clock`
const CHANNEL = 'millrace:1:data'
/** Longest life of a shared value. Milliseconds. */
export const LONGEST_MS = 86_400_000
const MARK_MS = LONGEST_MS + 3_600_000
/**
 * 65,536 marks take some 8 MB, however many targets visitors can name. Two targets with one mark drop each other's shared
 * values, which are made again; the memories of instances hear of the targets themselves.
 */
const HASH_DIGITS = 4
const MOST_OWED = 1_000 // targets; more than that become all
const TRY_AGAIN_MS = 1_000

const REVALIDATE = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('INCR', KEYS[1])
local now = redis.call('GET', KEYS[1])
for index = 2, #KEYS do redis.call('SET', KEYS[index], now, 'PX', ARGV[2]) end
redis.call('PUBLISH', ARGV[3], ARGV[4])`

/** What shared revalidations are made with. */
export interface SharedRevalidationsParts {
  readonly link: RedisLink
  readonly log: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Told of what other instances revalidate. */
  readonly onTargets: (targets: readonly string[]) => void
  /** Told when some of that may have been missed. */
  readonly onMissed: () => void
}

/** What instances tell each other. */
interface Message {
  readonly from: string
  readonly targets: readonly string[]
}

/** Sends and hears revalidations, from its construction on. */
export class SharedRevalidations {
  readonly #parts: SharedRevalidationsParts
  readonly #self = randomUUID()
  readonly #unsubscribe: () => void
  #owed = new Set<string>()
  #paying: Promise<boolean> | undefined
  #timer: NodeJS.Timeout | undefined
  #complained = false

  constructor(parts: SharedRevalidationsParts) {
    this.#parts = parts
    const { link, onTargets, onMissed } = parts
    this.#unsubscribe = link.subscribe(CHANNEL, (text) => {
      const message = readMessage(text)
      if (message === undefined) onMissed()
      else if (message.from !== this.#self) onTargets(message.targets)
    })
    link.onConnect(() => {
      onMissed()
      void this.pay()
    })
  }

  /** Drops targets everywhere. Resolves when that is done, or owed. */
  async add(targets: readonly string[]): Promise<void> {
    for (const target of targets) this.#owed.add(normalTarget(target))
    await this.pay()
  }

  /** Sends what is owed. @returns whether nothing is owed any more. */
  async pay(): Promise<boolean> {
    while (this.#paying !== undefined || this.#owed.size > 0) {
      if (this.#paying === undefined) {
        const targets = [...this.#owed]
        this.#owed = new Set()
        this.#paying = this.#send(targets).finally(() => (this.#paying = undefined))
      }
      if (!(await this.#paying)) return false
    }
    return true
  }

  /** Reads the clock, and the latest mark of some targets. @throws {RedisGone} */
  async ask(targets: readonly string[]): Promise<{ readonly clock: number; readonly latest: number }> {
    const { link } = this.#parts
    const [clock, ...marks] = await link.run((client) => client.mGet([CLOCK, ...targets.map(markOf)]))
    const latest = Math.max(0, ...marks.map(Number))
    if (clock !== null && clock !== undefined) return { clock: Number(clock), latest }
    const [, begun] = await link.run((client) =>
      Promise.all([client.set(CLOCK, this.#firstClock(), { condition: 'NX' }), client.get(CLOCK)]),
    )
    return { clock: Number(begun), latest }
  }

  dispose(): void {
    clearTimeout(this.#timer)
    this.#unsubscribe()
  }

  async #send(targets: readonly string[]): Promise<boolean> {
    const message: Message = { from: this.#self, targets }
    try {
      await this.#parts.link.script({
        lua: REVALIDATE,
        keys: [CLOCK, ...targets.map(markOf)],
        arguments: [this.#firstClock(), String(MARK_MS), CHANNEL, JSON.stringify(message)],
      })
      this.#complained = false
      return true
    } catch (thrown) {
      this.#complain(thrown)
      this.#owed = new Set([...targets, ...this.#owed])
      if (this.#owed.size > MOST_OWED) this.#owed = new Set(['/*'])
      // A lost connection tells when it is back; a store that refuses to write does not.
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.pay(), TRY_AGAIN_MS).unref()
      return false
    }
  }

  /** One log line until it works again. The connection itself logs that it is lost. */
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
  return `${PREFIX}marks:${hash('sha256', target, 'hex').slice(0, HASH_DIGITS)}`
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
