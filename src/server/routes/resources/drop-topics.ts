/**
 * Tells open event streams which of their targets were dropped. Streams that name the same targets are a topic: its
 * events are made once.
 *
 * | open streams that name a target | their browsers load again   | events of a topic          |
 * |---------------------------------|-----------------------------|----------------------------|
 * | up to 8                         | at once                     | at most one in 50 ms       |
 * | more                            | within 16 ms for each, 60 s at most | at most one in an eighth of that |
 *
 * Of two drops in that time the second is told at its end, together with all others. Each instance counts its own
 * streams. Events are written to a hundred streams in one turn of the event loop.
 *
 * A stream begins with the time of the last drop of each target, by which the browser finds out whether it has missed one.
 */
import { revalidationTarget } from '../../../shared/revalidation-path.ts'
import { DROPS_EVENT, type DropsMessage } from '../../../shared/protocol/drops-event.ts'
import type { RequestServices } from '../../request/context.ts'

const FEW_STREAMS = 8
const MS_FOR_EACH = 16 // 60 requests a second, whatever they cost beside other visitors
const LONGEST_SPREAD_MS = 60_000
const LEAST_GAP_MS = 50
const GAP_SHARE = 8
const WRITES_IN_ONE_TURN = 100

/** What is written to the streams of a topic. */
export interface DropEvent {
  readonly bytes: Buffer
  /** Bytes of the part that the application's names make up. */
  readonly ownBytes: number
}

/** Writes an event to one stream. Must not throw. */
export type DropReader = (event: DropEvent) => void

/** A stream's part in its topic. */
export interface DropMembership {
  /** What to write first. */
  readonly opening: Buffer
  leave(): void
}

/** The topics of all open streams. */
export interface DropTopics {
  /** @param named as the application has written them. */
  join(named: readonly string[], reader: DropReader): DropMembership
}

interface Topic {
  /** In one spelling. */
  readonly named: readonly string[]
  readonly readers: Set<DropReader>
  /** Dropped, and not told yet: times by target. */
  readonly pending: Map<string, number>
  timer?: NodeJS.Timeout | undefined
  toldAt: number
}

/** Starts without topics, and listens to drops from the first one on. */
export function createDropTopics(services: Pick<RequestServices, 'data' | 'drops'>): DropTopics {
  /** Bound: those of open streams. */
  const topics = new Map<string, Topic>()
  /** Open streams by target. */
  const counts = new Map<string, number>()
  const writes: (() => void)[] = []
  let isListening = false
  let isWriting = false

  function count({ named }: Topic, change: 1 | -1): void {
    for (const target of named) {
      const next = (counts.get(target) ?? 0) + change
      if (next > 0) counts.set(target, next)
      else counts.delete(target)
    }
  }

  const spreadOf = (targets: Iterable<string>): number =>
    spreadMs(Math.max(0, ...Array.from(targets, (target) => counts.get(target) ?? 0)))

  function note(dropped: readonly string[] | undefined, at: number): void {
    const names = dropped?.map(revalidationTarget)
    for (const topic of topics.values()) {
      const own = topic.named.filter((target) => names === undefined || isDropped(target, names))
      if (own.length === 0) continue
      for (const target of own) topic.pending.set(target, at)
      if (topic.timer !== undefined) continue
      const gap = Math.max(LEAST_GAP_MS, spreadOf(own) / GAP_SHARE)
      topic.timer = setTimeout(() => tell(topic), Math.max(0, topic.toldAt + gap - performance.now()))
    }
  }

  function tell(topic: Topic): void {
    topic.timer = undefined
    topic.toldAt = performance.now()
    const targets = Object.fromEntries(topic.pending)
    topic.pending.clear()
    const names = namesEvent(Object.keys(targets))
    const drops = dropsEvent({ targets, spread: spreadOf(Object.keys(targets)) })
    const event = { bytes: Buffer.from(drops + names), ownBytes: Buffer.byteLength(names) }
    for (const reader of topic.readers) writes.push(() => topic.readers.has(reader) && reader(event))
    if (!isWriting) write()
  }

  function write(): void {
    for (const one of writes.splice(0, WRITES_IN_ONE_TURN)) one()
    isWriting = writes.length > 0
    if (isWriting) setImmediate(write)
  }

  return {
    join(given, reader) {
      if (!isListening) services.data.onDrop(note)
      isListening = true
      const named = [...new Set(given.map(revalidationTarget))].toSorted()
      const key = JSON.stringify(named)
      const topic: Topic = topics.get(key) ?? { named, readers: new Set(), pending: new Map(), toldAt: -Infinity }
      topics.set(key, topic)
      topic.readers.add(reader)
      count(topic, 1)
      const targets = Object.fromEntries(named.map((target) => [target, services.drops?.of(target) ?? 0]))
      return {
        opening: Buffer.from(dropsEvent({ targets, spread: spreadOf(named) })),
        leave() {
          if (!topic.readers.delete(reader)) return
          count(topic, -1)
          if (topic.readers.size > 0) return
          clearTimeout(topic.timer)
          topics.delete(key)
        },
      }
    },
  }
}

/** Over which the browsers of that many streams spread their requests. */
export function spreadMs(streams: number): number {
  return streams <= FEW_STREAMS ? 0 : Math.min(streams * MS_FOR_EACH, LONGEST_SPREAD_MS)
}

function dropsEvent(message: DropsMessage): string {
  return `event: ${DROPS_EVENT}\ndata: ${JSON.stringify(message)}\n\n`
}

/** For handlers of the application, and clients that know nothing of the other event. */
function namesEvent(names: readonly string[]): string {
  return `event: revalidate\ndata: ${JSON.stringify(names)}\n\n`
}

/** Whether dropping these targets drops all that a tag, path or subtree names, or may drop some of it. */
function isDropped(target: string, dropped: readonly string[]): boolean {
  return dropped.some((other) => {
    if (other === target) return true
    if (!other.startsWith('/') || !target.startsWith('/')) return false
    return isBelow(target, other) || isBelow(other, target)
  })
}

/** Whether a path, or a subtree, lies in a subtree. */
function isBelow(target: string, subtree: string): boolean {
  return subtree.endsWith('/*') && `${target}/`.startsWith(subtree.slice(0, -1))
}
