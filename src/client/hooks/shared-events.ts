/**
 * One connection to an event stream for all listeners of its URL in this tab.
 *
 * | the tab or the connection | then                                                                      |
 * |---------------------------|---------------------------------------------------------------------------|
 * | is hidden                 | it is closed: browsers give a site six connections over HTTP/1.1, for all its tabs |
 * | is visible again          | it is opened, with the id of the last event                               |
 * | is lost                   | the browser connects again by itself, with that id                        |
 * | is refused (not 200)      | it is opened again after 1 s, then 2, 4 and so on up to 60 s, with jitter |
 * | is refused, and was open  | the page asks the server as well: its session may have ended              |
 * | has no listener           | it is closed, and forgotten                                               |
 * | has another session       | it is opened again, without an id: a stream belongs to the session that opened it |
 */

import { DROPS_EVENT, type DropsMessage } from '../../shared/protocol/drops-event.ts'
import { SESSIONS_EVENT } from '../../shared/protocol/session-marks.ts'

/** Someone who listens. */
interface EventListeners {
  /** Names of the events to hear. */
  readonly names: readonly string[]
  /** @param data parsed JSON. */
  hear(name: string, data: unknown, id: string): void
  /** The stream is of these users, or is refused, as for `LiveRouter.hearUsers`. */
  hearUsers(marks: string | undefined, askedAt: number): unknown
  /** The connection is open, or not any more. */
  connected(isOpen: boolean): void
}

/** Time, chance and the browser, for tests. */
export interface EventsWorld {
  readonly document: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>
  readonly connect: (url: string) => EventSource
  /** Calls back after some ms. @returns what cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
  /** From 0 to 1. */
  readonly random: () => number
  readonly report: (error: unknown) => void
}

const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 60_000
const MOST_HELD = 100 // events that wait for the router

const delayOf = (failures: number): number => Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS)

/** Creates the connections of a tab. @returns begins to listen to a URL, and returns what ends it. */
export function createSharedEvents(world: EventsWorld): (url: string, listeners: EventListeners) => () => void {
  const streams = new Map<string, SharedStream>()
  return (url, listeners) => {
    let stream = streams.get(url)
    if (stream === undefined) streams.set(url, (stream = openStream(url, world)))
    stream.add(listeners)
    return () => {
      if (stream.remove(listeners)) streams.delete(url)
    }
  }
}

interface SharedStream {
  add(listeners: EventListeners): void
  /** @returns whether it was the last one, and the stream has ended. */
  remove(listeners: EventListeners): boolean
}

function openStream(url: string, { document, connect, after, random, report }: EventsWorld): SharedStream {
  const all = new Set<EventListeners>()
  const names = new Set<string>()
  let source: EventSource | undefined
  let lastEventId = ''
  let [failures, cancelRetry, wasOpen] = [0, (): void => undefined, false]
  /** Opened because of this tab alone: there are no others at the same moment, over which to spread requests. */
  let isAlone = false
  /** When the browser may have sent the cookies of this connection. */
  let askedAt = 0
  const users = createTelling(all, hear, () => restart(true))

  function tellConnected(isOpen: boolean): void {
    for (const { connected } of all) connected(isOpen)
  }

  function hear(event: Event): void {
    const { type: name, data: text, lastEventId: id } = event as MessageEvent<string>
    if (isOwn(event) || users.holds(event)) return
    try {
      const data: unknown = JSON.parse(text)
      if (name === SESSIONS_EVENT) return void users.tell(data as string, askedAt).catch(() => undefined)
      lastEventId = id
      if (name === DROPS_EVENT) {
        const message: DropsMessage = isAlone ? { ...(data as DropsMessage), spread: 0 } : (data as DropsMessage)
        isAlone = false
        return [...all][0]?.hear(name, message, id)
      }
      for (const one of all) if (one.names.includes(name)) one.hear(name, data, id)
    } catch (error) {
      report(error)
    }
  }

  function open(alone = false): void {
    cancelRetry()
    if (source !== undefined || document.visibilityState === 'hidden') return
    isAlone = alone
    askedAt = Date.now()
    const opened = connect(lastEventId === '' ? url : withLastId(url, lastEventId))
    source = opened
    for (const name of names) opened.addEventListener(name, hear)
    opened.addEventListener('open', (event) => {
      if (!isOwn(event)) return
      ;[failures, wasOpen] = [0, true]
      tellConnected(true)
    })
    opened.addEventListener('error', (event) => {
      if (!isOwn(event)) return
      askedAt = Date.now()
      tellConnected(false)
      // Otherwise the browser connects again by itself.
      if (opened.readyState !== CLOSED || opened !== source) return
      source = undefined
      cancelRetry = after(delayOf(failures++) * (0.5 + random() / 2), () => open())
      if (wasOpen) [...all][0]?.hearUsers(undefined, askedAt)
      wasOpen = false
    })
  }

  function close(): void {
    cancelRetry()
    users.forget()
    source?.close()
    source = undefined
    tellConnected(false)
  }

  const follow = (): void => (document.visibilityState === 'hidden' ? close() : open(true))
  function restart(alone?: boolean): void {
    close()
    open(alone)
  }
  const renew = ({ detail: isOther }: CustomEventInit): void => {
    // It is of the session that it has told.
    if (users.isTelling && !isOther) return
    lastEventId = ''
    restart()
  }
  const leave = watch(document, { visibilitychange: follow, 'millrace:session': renew })

  return {
    add(listeners) {
      all.add(listeners)
      for (const name of [SESSIONS_EVENT, DROPS_EVENT, ...listeners.names]) {
        names.add(name)
        source?.addEventListener(name, hear)
      }
      open(true)
      listeners.connected(source?.readyState === OPEN)
    },
    remove(listeners) {
      all.delete(listeners)
      if (all.size > 0) return false
      close()
      leave()
      return true
    },
  }
}

/**
 * Tells the page whose a stream is. The router may still be loading: until it has compared, and if it does not come, nobody hears
 * what follows, of which the first is kept.
 */
function createTelling(all: ReadonlySet<EventListeners>, hear: (event: Event) => void, restart: () => void) {
  let held: Event[] | undefined
  return {
    get isTelling() {
      return held !== undefined
    },
    async tell(marks: string, askedAt: number): Promise<void> {
      const own: Event[] = (held ??= [])
      await [...all][0]?.hearUsers(marks, askedAt)
      if (held !== own) return
      held = undefined
      own.forEach(hear)
      // The server sends again what found no room.
      if (own.length === MOST_HELD) restart()
    },
    /** @returns whether an event has to wait. */
    holds(event: Event): boolean {
      if (held === undefined || event.type === SESSIONS_EVENT) return false
      if (held.length < MOST_HELD) held.push(event)
      return true
    },
    /** The connection is over. */
    forget(): void {
      held = undefined
    },
  }
}

/** @returns ends it. */
function watch(document: EventsWorld['document'], listeners: Readonly<Record<string, (event: Event) => void>>) {
  const all = Object.entries(listeners)
  for (const [type, listener] of all) document.addEventListener(type, listener)
  return (): void => {
    for (const [type, listener] of all) document.removeEventListener(type, listener)
  }
}

/** Whether it is of the connection itself: the server may name its events `open` and `error`, too. */
function isOwn(event: Event): boolean {
  return !('data' in event)
}

// As in `EventSource`, which tests do not have.
const OPEN = 1
const CLOSED = 2

function withLastId(url: string, id: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}lastEventId=${encodeURIComponent(id)}`
}
