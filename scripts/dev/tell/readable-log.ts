import { inspect, type InspectOptions } from 'node:util'
import { ROUTE_DATA_PREFIX } from '../../../src/shared/protocol/route-data.ts'
import type { FailureFacts, ThrownError } from './dev-failures.ts'
import type { LoaderRun } from './loader-waterfall.ts'
import { terminalText } from './terminal-text.ts'

/** An error in a log line. */
interface LoggedError extends ThrownError {
  readonly cause?: LoggedError
}

/** A line of the server's log. */
export interface LogLine {
  /** pino's: 30 is info, 50 is error. */
  readonly level: number
  readonly msg?: string
  readonly err?: LoggedError
  readonly method?: string
  /** Path and query. */
  readonly url?: string
  readonly route?: string | null
  readonly status?: number
  /** Of a refusal or failure in an answer that had begun with `status`. */
  readonly lateStatus?: number
  /** `document`, `data`, `prefetch`, `action`, ... */
  readonly kind?: string
  readonly durationMs?: number
  readonly requestId?: string
  readonly digest?: string
  /** Segment whose loader has failed. */
  readonly loader?: string
  /** The action that has failed. */
  readonly action?: string
  /** Of a failure in a request that nobody has clicked for yet. */
  readonly prefetch?: boolean
  /** Of a request with slow loaders. */
  readonly loaders?: readonly LoaderRun[]
  /** How a page with `cache: 'shared'` was answered: `hit`, or `bypass: ` and why. */
  readonly cache?: string
  /** `false`: a page with `cache: 'shared'` cannot be kept, for the `reason`. */
  readonly kept?: boolean
  readonly reason?: string
  /** A value of the loader that is different in the browser. */
  readonly changed?: { readonly path: string; readonly what: string }
}

const ERROR = 50
const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** @returns `undefined` for any other line, which is printed unchanged. */
export function parseLogLine(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(line)
    return typeof parsed === 'object' && parsed !== null && 'level' in parsed ? (parsed as LogLine) : undefined
  } catch {
    return undefined
  }
}

/** The error of a line that a developer has to see. */
export function errorOf({ level, err }: LogLine): ThrownError | undefined {
  return level >= ERROR ? err : undefined
}

/** What a line says about the request of its failure. */
export function factsOf({ requestId, method, url, route, loader, action, digest, prefetch }: LogLine): FailureFacts {
  if (requestId === undefined || method === undefined || url === undefined) return { digest }
  // The URL is the page's, also of a request for its data.
  const page = route?.startsWith(ROUTE_DATA_PREFIX) === true ? route.slice(ROUTE_DATA_PREFIX.length) : route
  const known = Object.entries({ route: page, loader, action }).filter(([, value]) => typeof value === 'string')
  const facts = { id: requestId, method, url, ...Object.fromEntries(known) }
  return { digest, request: prefetch === true ? { ...facts, prefetch } : facts }
}

/**
 * A readable log line.
 * @param shorten makes an error's stack readable.
 */
export function readableLine(line: LogLine, shorten: (stack: string) => string = (stack) => stack): string {
  const { level, msg = '', err, method, url, prefetch = false } = line
  const start = (LEVELS[level] ?? String(level)).padEnd(5)
  if (isRequest(line)) return terminalText(`${start} ${requestText(line)}`)
  const isFailure = err !== undefined && method !== undefined && url !== undefined
  const said = isFailure ? `${method} ${url}${prefetch ? ', prefetch,' : ''} ${msg}` : msg
  const fields = fieldsText(line, isFailure ? OF_FAILURES : OF_LINES, shorten)
  const text = [start, said, fields].filter((part) => part !== '').join(' ')
  return terminalText(err === undefined ? text : `${text}\n${errorText(err, shorten)}`)
}

/** The line of an answer, which no application writes. */
function isRequest({ msg, err, method, status, durationMs }: LogLine): boolean {
  return (
    msg === undefined && err === undefined && method !== undefined && status !== undefined && durationMs !== undefined
  )
}

/** The status of a data request is that of what has failed: the answer itself may have begun before. */
function requestText({ method, url, route, status, lateStatus, durationMs, cache, kind = 'other' }: LogLine): string {
  const asked = route === null || url === undefined ? [url ?? '', route ?? '(no route)'] : [url]
  const parts = [method, ...asked.filter((part) => part !== ''), lateStatus ?? status, `${durationMs} ms`]
  const notes = [
    ...(kind === 'other' ? [] : [kind]),
    ...(cache === undefined ? [] : [`cache ${cache}`]),
    ...(lateStatus === undefined ? [] : [`begun with ${status}`]),
  ]
  return [parts.join(' '), ...notes].join(', ')
}

const OF_LINES: ReadonlySet<string> = new Set(['level', 'time', 'worker', 'msg', 'err', 'requestId', 'traceId'])

/** Of a failure that the runtime has caught; the overlay has all of it. */
const OF_FAILURES: ReadonlySet<string> = new Set([
  ...OF_LINES,
  'digest',
  'place',
  'method',
  'url',
  'route',
  'loader',
  'action',
  'prefetch',
])

const MOST_FIELDS = 4_000 // characters
const INSPECTED: InspectOptions = { depth: 4, breakLength: 100, maxArrayLength: 20, maxStringLength: 1_000 }

/** What an application has logged beside its message. */
function fieldsText(line: LogLine, hidden: ReadonlySet<string>, shorten: (stack: string) => string): string {
  const fields = Object.entries(line).filter(([name]) => !hidden.has(name))
  if (fields.length === 0) return ''
  const shown = fields.map(([name, value]) => [name, withErrors(value, shorten)])
  const text = inspect(Object.fromEntries(shown), INSPECTED)
  return text.length > MOST_FIELDS ? `${text.slice(0, MOST_FIELDS)} …` : text
}

/** Puts a text in the place of each described error: its stack, on lines of its own. */
function withErrors(value: unknown, shorten: (stack: string) => string, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > MOST_DEPTH) return value
  if (isDescribedError(value)) return { [inspect.custom]: () => errorText(value, shorten) }
  if (Array.isArray(value)) return value.map((item: unknown) => withErrors(item, shorten, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withErrors(one, shorten, depth + 1)]))
}

const MOST_DEPTH = 4

/** As `describeThrown` makes it on the server. */
function isDescribedError(value: object): value is LoggedError {
  const { type, message, stack } = value as ThrownError
  return typeof type === 'string' && typeof message === 'string' && typeof stack === 'string'
}

/** An error and its causes. */
function errorText({ stack, message = '', cause }: LoggedError, shorten: (stack: string) => string): string {
  const text = shorten(stack ?? message)
  return cause === undefined ? text : `${text}\nCaused by: ${errorText(cause, shorten)}`
}

/** Prints the server's log. */
interface LinePrinter {
  /** A request that is sent again fails in the same way: an equal failure has its stack once in a row. */
  print(line: LogLine): void
  /** The next failure has its stack in any case. */
  forget(): void
}

/** @param shorten makes an error's stack readable. */
export function createLinePrinter(print: (text: string) => void, shorten: (stack: string) => string): LinePrinter {
  const state = { failure: '' }
  return {
    print(line) {
      const text = readableLine(line, shorten)
      if (line.err === undefined) return print(text)
      print(text === state.failure ? `${text.slice(0, text.indexOf('\n'))}, as above` : text)
      state.failure = text
    },
    forget() {
      state.failure = ''
    },
  }
}
