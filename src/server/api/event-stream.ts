/** One event for the browsers that listen. */
export interface ServerEvent {
  /** Sent as JSON. */
  readonly data: unknown
  /**
   * Name of the event: up to 100 characters without line breaks, and not beginning with `millrace:`. Default: `message`.
   */
  readonly event?: string | undefined
  /**
   * What the browser sends back as `lastEventId` when it connects again: up to 256 printable ASCII characters. Default:
   * the id of an earlier event stays.
   */
  readonly id?: string | undefined
}

/** An open event stream. */
export interface EventStream {
  /**
   * Id of the last event that this browser has seen, if it connects again. It comes from outside: anybody can send any
   * id.
   */
  readonly lastEventId: string | undefined
  /** Aborted when the stream ends, for any reason. */
  readonly signal: AbortSignal
  /**
   * Sends an event. It does not throw: an event with a name, an id or data that cannot be sent, or one larger than
   * `bufferBytes`, is left out and reported as a failure, and the stream stays open.
   * @returns `false` once the stream has ended.
   */
  send(event: ServerEvent): boolean
  /** Ends the stream. Browsers connect again after some seconds. */
  end(): void
}

/**
 * Begins to send. The function that it returns runs once, when the stream has ended. It may be `async`; what it throws is
 * reported.
 */
export type StartEvents = (stream: EventStream) => (() => void) | void | Promise<(() => void) | void>

/** Options of `eventStream`. */
export interface EventStreamOptions {
  /**
   * Tags and paths: when `revalidate` drops one of them, pages that listen with `useEvents` drop it too, and load what is on
   * screen again. Listeners learn these names. 100 at most.
   */
  readonly revalidate?: readonly string[] | undefined
  /**
   * Seconds without an event after which a comment is sent, so that proxies do not close the connection: up to
   * 3,600. Default: 20.
   */
  readonly heartbeatSeconds?: number | undefined
  /** Bytes that may wait for a reader. A reader that lets more of them wait is disconnected. Default: 65,536. */
  readonly bufferBytes?: number | undefined
}

type ChosenOptions = { readonly [Name in keyof EventStreamOptions]-?: NonNullable<EventStreamOptions[Name]> }

/** An event stream that a `Response` stands for. */
export interface DeclaredEvents extends ChosenOptions {
  readonly start: StartEvents
}

const DECLARED = Symbol('millrace.events')
const HEARTBEAT_SECONDS = 20 // proxies close what has been silent for 30 or 60 s
const MOST_HEARTBEAT_SECONDS = 3_600
const BUFFER_BYTES = 65_536
/** A visitor may choose what is watched, and the first event of each stream lists all targets. */
const MOST_TARGETS = 100

/**
 * The answer of a handler that sends events (WHATWG HTML, section 9.2) until the browser leaves. The server opens the
 * stream when the handler has returned: return the `Response` itself.
 *
 * A stream ends when the browser leaves or does not read, after half an hour, and when the server stops. Browsers then
 * reconnect.
 * @param start is called when the stream is open. What it throws ends the stream, and is reported.
 * @throws {RangeError} for options out of their range, or too many targets.
 * @example
 * ```ts
 * import { eventStream, type LoaderArgs } from 'millrace/server'
 *
 * export function GET({ signal }: LoaderArgs) {
 *   return eventStream(({ send }) => {
 *     const timer = setInterval(() => send({ event: 'tick', data: { at: Date.now() } }), 1_000)
 *     signal.addEventListener('abort', () => clearInterval(timer))
 *   })
 * }
 * ```
 */
export function eventStream(start: StartEvents, options: EventStreamOptions = {}): Response {
  const { revalidate = [], heartbeatSeconds = HEARTBEAT_SECONDS, bufferBytes = BUFFER_BYTES } = options
  if (!(heartbeatSeconds > 0 && heartbeatSeconds <= MOST_HEARTBEAT_SECONDS)) {
    throw new RangeError(`eventStream: heartbeatSeconds ${heartbeatSeconds} is not above 0 and up to 3,600`)
  }
  if (!(bufferBytes > 0 && Number.isFinite(bufferBytes))) {
    throw new RangeError(`eventStream: bufferBytes ${bufferBytes} is not a number above 0`)
  }
  if (revalidate.length > MOST_TARGETS) {
    throw new RangeError(`eventStream: ${revalidate.length} targets in revalidate, and 100 are the most`)
  }
  const declared: DeclaredEvents = { start, revalidate, heartbeatSeconds, bufferBytes }
  return Object.defineProperty(new Response(null), DECLARED, { value: declared })
}

/** The event stream that a response of `eventStream` stands for; `undefined` for any other response. */
export function declaredEvents(response: Response): DeclaredEvents | undefined {
  return (response as { readonly [DECLARED]?: DeclaredEvents })[DECLARED]
}

/** Browsers take what begins so for the runtime's word. */
const NAME = /^(?!millrace:)[^\r\n\0]{1,100}$/
const ID = /^[\x20-\x7e]{1,256}$/

/**
 * An event as it is sent.
 * @throws {TypeError} for a name, an id or data that cannot be sent.
 */
export function eventText({ data, event, id }: ServerEvent): string {
  if (event !== undefined && !NAME.test(event)) throw new TypeError('eventStream: this is not the name of an event')
  if (id !== undefined && !isEventId(id)) throw new TypeError('eventStream: this is not the id of an event')
  const lines = [`data: ${JSON.stringify(data) ?? 'null'}`]
  if (event !== undefined) lines.unshift(`event: ${event}`)
  if (id !== undefined) lines.unshift(`id: ${id}`)
  return `${lines.join('\n')}\n\n`
}

/** Whether a text may be an event's id. */
export function isEventId(text: string): boolean {
  return ID.test(text)
}
