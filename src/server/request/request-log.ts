import type { Logger } from 'pino'
import type { RequestContext } from './context.ts'

/** What the log says of one request. Never its URL, headers or body: those hold secrets. */
export interface RequestLine {
  /** Made here, or validated: letters, digits and `_.:-`. */
  readonly requestId: string
  /** 32 hexadecimal digits, where the request belongs to a trace with another id than its own. */
  readonly traceId: string | undefined
  readonly method: string
  /** Pattern of the route, `null` where none matched. */
  readonly route: string | null
  /** 0 when the client went away before an answer began. */
  readonly status: number
  readonly durationMs: number
  /** Bytes on the wire, head included. */
  readonly bytes: number
  /** Whether the answer was cut off. */
  readonly aborted: boolean
  /** Why the request was refused, if it was. */
  readonly refused: string | undefined
}

/** Writes one line a request. */
export type RequestLog = (line: RequestLine) => void

/** Through the logger; for loggers with a format of their own. */
export function requestLogThrough(log: Logger): RequestLog {
  return ({ traceId, aborted, refused, ...line }) =>
    log.info({
      ...line,
      ...(traceId === undefined ? {} : { traceId }),
      ...(aborted ? { aborted } : {}),
      ...(refused === undefined ? {} : { refused }),
    })
}

/**
 * The same line as pino writes it, put together here: on the path of every request, a general serialiser costs as much
 * as rendering a small page's head.
 * @param worker which of several processes writes it.
 */
export function requestLogTo(destination: { write(line: string): unknown }, log: Logger, worker?: number): RequestLog {
  const start = worker === undefined ? '' : `"worker":${worker},`
  return ({ requestId, traceId, method, route, status, durationMs, bytes, aborted, refused }) => {
    if (!log.isLevelEnabled('info')) return
    destination.write(
      `{"level":30,"time":${Date.now()},${start}"requestId":"${requestId}"${traceId === undefined ? '' : `,"traceId":"${traceId}"`},"method":${JSON.stringify(method)},` +
        `"route":${JSON.stringify(route)},"status":${status},"durationMs":${durationMs},"bytes":${bytes}` +
        `${aborted ? ',"aborted":true' : ''}${refused === undefined ? '' : `,"refused":${JSON.stringify(refused)}`}}\n`,
    )
  }
}

/** Looks at each request when it is over, beside the log. */
export type RequestObserver = (context: RequestContext, line: RequestLine) => void
