import { ROUTE_DATA_PREFIX } from '../../src/shared/protocol/route-data.ts'
import type { FailureFacts, ThrownError } from './dev-failures.ts'
import type { LoaderRun } from './loader-waterfall.ts'
import { terminalText } from './terminal-text.ts'

/** A line of the server's log. */
export interface LogLine {
  /** pino's: 30 is info, 50 is error. */
  readonly level: number
  readonly msg?: string
  readonly err?: ThrownError
  readonly method?: string
  /** Path and query. */
  readonly url?: string
  readonly route?: string | null
  readonly status?: number
  readonly durationMs?: number
  readonly requestId?: string
  readonly digest?: string
  /** Segment whose loader has failed. */
  readonly loader?: string
  /** The action that has failed. */
  readonly action?: string
  /** Of a request with slow loaders. */
  readonly loaders?: readonly LoaderRun[]
  /** A value of the loader that is another one in the browser. */
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
export function factsOf({ requestId, method, url, route, loader, action, digest }: LogLine): FailureFacts {
  if (requestId === undefined || method === undefined || url === undefined) return { digest }
  // The URL is the page's, also of a request for its data.
  const page = route?.startsWith(ROUTE_DATA_PREFIX) === true ? route.slice(ROUTE_DATA_PREFIX.length) : route
  const known = Object.entries({ route: page, loader, action }).filter(([, value]) => typeof value === 'string')
  return { digest, request: { id: requestId, method, url, ...Object.fromEntries(known) } }
}

/**
 * A readable log line.
 * @param shorten makes an error's stack readable.
 */
export function readableLine(
  { level, msg, err, method, url, route, status, durationMs }: LogLine,
  shorten: (stack: string) => string = (stack) => stack,
): string {
  const asked = route === null || url === undefined ? [url ?? '', route ?? '(no route)'] : [url]
  const answered = [...asked.filter((part) => part !== ''), String(status ?? ''), `${durationMs ?? '?'} ms`]
  const request = method === undefined ? [] : [method, ...(err === undefined ? answered : [url ?? ''])]
  const said = [...request, ...(msg === undefined ? [] : [msg])].join(' ')
  const line = `${(LEVELS[level] ?? String(level)).padEnd(5)} ${said}`
  return terminalText(err === undefined ? line : `${line}\n${shorten(err.stack ?? err.message ?? '')}`)
}

/** Prints the server's log. */
export interface LinePrinter {
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
