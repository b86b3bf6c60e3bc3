import type { Logger } from 'pino'
import type { DataRequest } from './request-kind.ts'
import type { RequestRecord } from './request-record.ts'

/** The log line of one request. Never its headers or body, because they contain secrets; its URL in development alone. */
export type RequestLine = Pick<
  RequestRecord,
  | 'requestId'
  | 'traceId'
  | 'method'
  | 'route'
  | 'status'
  | 'durationMs'
  | 'bytes'
  | 'aborted'
  | 'refused'
  | 'kind'
  | 'cache'
  | 'late'
>

/** What only the log of development tells. */
export interface LoggedRequest {
  readonly req: { readonly url?: string | undefined }
  readonly data: DataRequest | undefined
}

/** Writes one line per request. */
export type RequestLog = (line: RequestLine, request: LoggedRequest) => void

/** Writes through the logger; for loggers with their own format. */
export function requestLogThrough(log: Logger): RequestLog {
  return (line) => log.info(membersOf(line))
}

function membersOf(line: RequestLine): object {
  const { requestId, traceId, method, route = null, status, durationMs, bytes, aborted, refused, cache, late } = line
  return {
    requestId,
    method,
    route,
    status,
    durationMs,
    bytes,
    ...(traceId === undefined ? {} : { traceId }),
    ...(aborted ? { aborted } : {}),
    ...(refused === undefined ? {} : { refused }),
    ...(cache === undefined ? {} : { cache }),
    ...(late === undefined ? {} : { late }),
  }
}

const MOST_URL = 300 // characters; a longer one is read by nobody

/**
 * Writes more for those who develop: the URL, because one pattern answers many, the kind of the request, and the status of
 * what has failed after the answer had begun with a different one.
 */
export function requestLogInDevelopment(log: Logger): RequestLog {
  return (line, { data, req }) => {
    const late = data?.lateStatus === undefined ? {} : { lateStatus: data.lateStatus }
    log.info({ ...membersOf(line), url: (req.url ?? '').slice(0, MOST_URL), kind: line.kind, ...late })
  }
}

/**
 * Writes the same line as pino would, assembled here: a general serialiser on the path of every request costs as much
 * as rendering a small page's head.
 * @param worker number of the process among several.
 */
export function requestLogTo(destination: { write(line: string): unknown }, log: Logger, worker?: number): RequestLog {
  const start = worker === undefined ? '' : `"worker":${worker},`
  const [quotedMethod, quotedRoute] = [quoteAsBefore(), quoteAsBefore()]
  return ({ requestId, traceId, method, route = null, status, durationMs, bytes, aborted, refused, cache, late }) => {
    if (!log.isLevelEnabled('info')) return
    destination.write(
      `{"level":30,"time":${Date.now()},${start}"requestId":"${requestId}"${traceId === undefined ? '' : `,"traceId":"${traceId}"`},"method":${quotedMethod(method)},` +
        `"route":${quotedRoute(route)},"status":${status},"durationMs":${durationMs},"bytes":${bytes}` +
        `${aborted ? ',"aborted":true' : ''}${refused === undefined ? '' : `,"refused":${JSON.stringify(refused)}`}` +
        `${cache === undefined ? '' : `,"cache":${JSON.stringify(cache)}`}${late === undefined ? '' : `,"late":"${late}"`}}\n`,
    )
  }
}

/** Quotes a text that is mostly the same as the one before. */
function quoteAsBefore(): (text: string | null) => string {
  let last: string | null = null
  let quoted = 'null'
  return (text) => {
    if (text !== last) [last, quoted] = [text, JSON.stringify(text)]
    return quoted
  }
}

/** Receives each finished request, besides the log. */
export type RequestObserver = (record: RequestRecord) => void
