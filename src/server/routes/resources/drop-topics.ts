/**
 * Tells open event streams which of their targets were dropped. Streams that name the same targets are a topic: its
 * events are made once for each time over which browsers spread their requests.
 *
 * | open streams that a drop concerns | their browsers load again           | events of a topic              |
 * |-----------------------------------|-------------------------------------|--------------------------------|
 * | up to 8                           | at once                             | at most one in 50 ms           |
 * | more                              | within 16 ms for each, 60 s at most | at most one in an eighth of that |
 *
 * `drop-reach.ts` counts them. If there are more drops in that time, they are sent together at its end. Each
 * instance counts its own streams. Events are written to a hundred streams in one turn of the event loop.
 *
 * A stream begins with the time of the last drop of each target, by which the browser finds out whether it has missed one.
 */
import { DROPS_EVENT, type DropsMessage } from '../../../shared/protocol/drops-event.ts'
import type { RequestServices } from '../../request/context.ts'
import { namedTargets } from '../../stores/cache/revalidation-targets.ts'
import { reachOf, type DropReach } from './drop-reach.ts'
import { TargetIndex } from './target-index.ts'

const WRITES_IN_ONE_TURN = 100

/** What is written to the streams of a topic. */
export interface DropEvent {
  readonly bytes: Buffer
  /** Bytes of the part that the application's names make up. */
  readonly ownBytes: number
}

/** Writes an event to one stream. Must not throw. */
type DropReader = (event: DropEvent) => void

/** A stream's part in its topic. */
interface DropMembership {
  /** What to write first. */
  readonly opening: Buffer
  leave(): void
}

/** The topics of all open streams. */
export interface DropTopics {
  /** @param named as the application has written them. @param client of the stream, as `clientKey` names it. */
  join(named: readonly string[], client: string, reader: DropReader): DropMembership
}

interface Topic {
  /** In one spelling. */
  readonly named: readonly string[]
  /** Clients by reader. */
  readonly readers: Map<DropReader, string>
  /** Streams by client. */
  readonly counts: Map<string, number>
  /** Dropped, and not told yet: times by target. */
  readonly pending: Map<string, number>
  /** Of the pending drop that concerns most streams. */
  reach?: DropReach | undefined
  timer?: NodeJS.Timeout | undefined
  toldAt: number
}

interface Write {
  readonly topic: Topic
  readonly reader: DropReader
  readonly event: DropEvent
}

/** Starts without topics, and listens to drops from the first one on. */
export function createDropTopics(services: Pick<RequestServices, 'data' | 'drops'>): DropTopics {
  /** Bound: those of open streams. */
  const topics = new Map<string, Topic>()
  const index = new TargetIndex<Topic>()
  const writes: Write[] = []
  let isListening = false
  let isWriting = false

  /** The topics that a drop concerns, with their own dropped targets. */
  function concerned(names: readonly string[] | undefined) {
    const found =
      names === undefined ? new Map([...topics.values()].map((topic) => [topic, topic.named])) : index.concerned(names)
    return { found, reach: reachOf([...found.keys()].map(({ counts }) => counts)) }
  }

  function note(dropped: readonly string[] | undefined, at: number): void {
    const { found, reach } = concerned(dropped && namedTargets(dropped))
    for (const [topic, own] of found) {
      for (const target of own) topic.pending.set(target, at)
      if (topic.reach === undefined || topic.reach.gapMs < reach.gapMs) topic.reach = reach
      topic.timer ??= setTimeout(tell, Math.max(0, topic.toldAt + reach.gapMs - performance.now()), topic, reach)
    }
  }

  function tell(topic: Topic, first: DropReach): void {
    const { reach = first } = topic
    topic.timer = topic.reach = undefined
    topic.toldAt = performance.now()
    const targets = Object.fromEntries(topic.pending)
    topic.pending.clear()
    const names = namesEvent(Object.keys(targets))
    const ownBytes = Buffer.byteLength(names)
    const events = new Map<number, DropEvent>()
    for (const [reader, client] of topic.readers) {
      const spread = reach.spreadMs(client)
      let event = events.get(spread)
      if (event === undefined) {
        event = { bytes: Buffer.from(dropsEvent({ targets, spread }) + names), ownBytes }
        events.set(spread, event)
      }
      writes.push({ topic, reader, event })
    }
    if (!isWriting) write()
  }

  function write(): void {
    const now = writes.splice(0, WRITES_IN_ONE_TURN)
    for (const { topic, reader, event } of now) if (topic.readers.has(reader)) reader(event)
    isWriting = writes.length > 0
    if (isWriting) setImmediate(write)
  }

  return {
    join(given, client, reader) {
      if (!isListening) services.data.onDrop(note)
      isListening = true
      const named = namedTargets(given).toSorted()
      const key = JSON.stringify(named)
      const topic = topics.get(key) ?? newTopic(named)
      if (!topics.has(key)) for (const target of named) index.add(target, topic)
      topics.set(key, topic)
      topic.readers.set(reader, client)
      count(topic, client, 1)
      const targets = Object.fromEntries(named.map((target) => [target, services.drops?.of(target) ?? 0]))
      return {
        opening: Buffer.from(dropsEvent({ targets, spread: concerned(named).reach.spreadMs(client) })),
        leave() {
          if (!topic.readers.delete(reader)) return
          count(topic, client, -1)
          if (topic.readers.size > 0) return
          clearTimeout(topic.timer)
          topics.delete(key)
          for (const target of named) index.remove(target, topic)
        },
      }
    },
  }
}

function newTopic(named: readonly string[]): Topic {
  return { named, readers: new Map(), counts: new Map(), pending: new Map(), toldAt: -Infinity }
}

function count({ counts }: Topic, client: string, change: 1 | -1): void {
  const next = (counts.get(client) ?? 0) + change
  if (next > 0) counts.set(client, next)
  else counts.delete(client)
}

function dropsEvent(message: DropsMessage): string {
  return `event: ${DROPS_EVENT}\ndata: ${JSON.stringify(message)}\n\n`
}

/** For handlers of the application, and clients that know nothing of the other event. */
function namesEvent(names: readonly string[]): string {
  return `event: revalidate\ndata: ${JSON.stringify(names)}\n\n`
}
