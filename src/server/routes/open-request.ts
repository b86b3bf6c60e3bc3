import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import { basePath, isUnderBasePath, withoutBasePath } from '../../shared/base-path.ts'
import { HEALTH_PATHS, isRuntimePath } from '../../shared/runtime-paths.ts'
import { isDataPath } from '../http/data-url.ts'
import { dropBody } from '../http/body/drop-body.ts'
import type { Config } from '../config/config.ts'
import { BUILD_HEADER, ROUTE_DATA_PREFIX } from '../../shared/protocol/route-data.ts'
import { sendConstantPage, sendLocation, sendMethods, sendRefusal } from '../request/answer/send-plain.ts'
import type { RequestLog, RequestObserver } from '../request/request-log.ts'
import type { ServerReporter } from '../request/request-reporter.ts'
import type { RequestTrace } from '../request/request-trace.ts'
import { fill, textsOf } from '../request/answer/texts.ts'
import { attachContext } from '../request/attached-context.ts'
import { RequestContext } from '../request/context.ts'
import { reportFailure, lateFailure } from '../request/answer/failure.ts'
import { RequestScope } from '../request/request-scope.ts'
import { hostOf, passOn } from '../request/host-request.ts'
import { createRandomText } from '../http/random-text.ts'
import type { RequestServices } from '../request/context.ts'
import { first, type RequestJudge } from '../request/judge-request.ts'
import { judgeTarget, type JudgedTarget } from '../http/request-target.ts'
import { clientKey } from '../http/client-key.ts'

/** Ids accepted from another machine: nothing that could break a log or a header. */
const REQUEST_ID = /^[\w.:-]{1,64}$/

/** `OPTIONS *` is about the server, not a URL (RFC 9110, section 9.3.7). */
const ANY_PAGE = 'GET, HEAD, POST, OPTIONS'

/** Listeners of one event that an answer gets from here: Node's `pipeline` alone adds five to a response. */
const MOST_LISTENERS = 10

/** Parts of the guard. */
interface OpenRequestParts extends Pick<Config, 'trustProxy'> {
  readonly judge: RequestJudge
  /** Sent with every answer to a request for route data. */
  readonly buildId: string
  readonly log: Logger
  readonly requestLog: RequestLog
  readonly observe: RequestObserver | undefined
  readonly telemetry: { readonly observe: RequestObserver }
  readonly services: RequestServices
  /** Absent if failures of this server are only logged. */
  readonly reporter?: ServerReporter | undefined
  /** Whether the application has middleware, which may answer paths with a trailing slash. */
  readonly hasMiddleware: boolean
}

/**
 * The first middleware: judges Host and URL, creates the request's context, and writes the log line when it is over.
 * Refused requests never reach Express's own routing.
 */
export function openRequest(parts: OpenRequestParts): RequestHandler {
  const { judge, buildId, trustProxy, log, services, reporter, hasMiddleware } = parts
  const newNonce = createRandomText('base64')
  const newId = createRandomText('hex')
  return (req, res, next) => {
    const startedAt = performance.now()
    const { target: judged, clientAddress, refusal } = judge(req)
    const isUnknown = hostOf(req)?.isUnknown === true
    const tidied = tidyDataUrl(req, judged)
    const slashed = hasMiddleware && tidied === undefined ? slashedPath(req, judged) : undefined
    const target = tidied ?? slashed ?? judged
    // Nothing of it is ours to refuse or to tidy.
    if (isUnknown && (refusal !== undefined || target.kind !== 'ok')) return passOn(req, next)
    const named = trustProxy(req.socket.remoteAddress) ? first(req.headers['x-request-id']) : undefined
    const tidyUrl = slashed !== undefined && judged.kind === 'redirect' ? judged.location : undefined
    const context = new RequestContext({
      req,
      res,
      pathname: target.kind === 'ok' ? target.pathname : '/',
      search: target.kind === 'ok' ? target.search : '',
      clientAddress,
      requestId: named !== undefined && REQUEST_ID.test(named) ? named : newId(),
      log,
      newNonce,
      services,
      reporter,
      startedAt,
      hasDotSegments: target.kind === 'ok' && target.dotSegments,
      isTidied: tidied !== undefined,
      middlewareOnly: isUnknown || tidyUrl !== undefined ? { tidyUrl } : undefined,
    })
    attachContext(req, context)
    const scope = new RequestScope((thrown) => void reportFailure(thrown, context, 'unawaited'))
    watch(context, parts, scope)

    if (refusal !== undefined || target.kind !== 'ok') nameBuild(context, buildId)
    if (refusal !== undefined) {
      return sendRefusal(context, refusal, refusal.status === 505 ? ['Connection', 'close'] : [])
    }
    if (req.method === 'OPTIONS' && req.url === '*') return sendMethods(context, ANY_PAGE)
    if (target.kind === 'refused') return sendRefusal(context, target)
    if (isOutside(req) && !HEALTH_PATHS.includes(context.pathname)) return answerOutside(context, target)
    if (target.kind === 'redirect') return sendLocation(context, 308, target.location)
    if (isSlashedRoot(req)) return sendLocation(context, 308, `/${target.search}`)
    // Express routes by this; it must see what was judged.
    req.url = target.pathname + target.search
    scope.run(next)
  }
}

/**
 * The tidy form of a URL for the data of an untidy path. The document would be redirected; for data, the redirect is a
 * record, so the data handler must write it: here it would be a 3xx.
 */
function tidyDataUrl({ method, url }: IncomingMessage, judged: JudgedTarget) {
  if (judged.kind !== 'redirect' || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (url?.startsWith(`${ROUTE_DATA_PREFIX}/`) !== true) return undefined
  const tidy = judgeTarget(judged.location)
  return tidy.kind === 'ok' && !tidy.dotSegments && isDataPath(tidy.pathname) ? tidy : undefined
}

/** A path that is tidy but for its trailing slash: the one spelling that routers of middleware tell from another. */
function slashedPath({ url }: IncomingMessage, judged: JudgedTarget) {
  if (judged.kind !== 'redirect') return undefined
  const tidy = judgeTarget(judged.location)
  if (tidy.kind !== 'ok' || isRuntimePath(tidy.pathname)) return undefined
  const pathname = `${tidy.pathname}/`
  return url === pathname + tidy.search ? { ...tidy, pathname } : undefined
}

/** Outside of the base path: asked of a server of its own, whose health is at its root. */
function isOutside(req: IncomingMessage & { readonly baseUrl?: string }): boolean {
  return basePath() !== '' && req.baseUrl !== basePath()
}

function answerOutside(context: RequestContext, target: Exclude<JudgedTarget, { kind: 'refused' }>): void {
  if (target.kind === 'redirect' && isUnderBasePath(target.location)) {
    return sendLocation(context, 308, withoutBasePath(target.location))
  }
  const base = basePath()
  const texts = textsOf(context)
  sendConstantPage(context, { status: 404, message: fill(texts.outside, base), texts })
}

/** `/shop/` for `/shop`: in a router that is mounted there both are `/`. */
function isSlashedRoot({ originalUrl = '' }: IncomingMessage & { readonly originalUrl?: string }): boolean {
  return basePath() !== '' && originalUrl.split('?', 1)[0] === `${basePath()}/`
}

/** Refused requests for route data are not marked as such yet, so the header is set here. */
function nameBuild({ req, res }: RequestContext, buildId: string): void {
  if (req.url?.startsWith(`${ROUTE_DATA_PREFIX}/`)) res.setHeader(BUILD_HEADER, buildId)
}

/** Writes one log line per request, and aborts its work when the client disconnects. */
function watch(
  context: RequestContext,
  { requestLog, observe, telemetry, log, reporter }: OpenRequestParts,
  scope: RequestScope,
): void {
  const { req, res } = context
  const { socket } = req
  const bytesBefore = socket.bytesWritten
  // Node warns of a leak above ten, and middleware in front of the application listens too.
  const allowed = res.getMaxListeners()
  if (allowed > 0) res.setMaxListeners(allowed + MOST_LISTENERS)
  res.once('close', () => {
    const { record } = context
    const { route, switched } = record
    // Before the record ends, which names a trace that has begun.
    const trace = switched || route === undefined ? undefined : context.trace
    record.end(
      {
        method: req.method ?? '',
        status: switched ? 101 : res.headersSent ? res.statusCode : 0,
        bytes: socket.bytesWritten - bytesBefore,
        aborted: !switched && !res.writableFinished,
        traceId: context.otherTraceId,
      },
      context,
    )
    if (hostOf(req)?.isPassedOn) {
      scope.fail = lateFailure({ log, reporter, record, clientAddress: context.clientAddress })
      return context.finish()
    }
    // Listeners of its signal, and work after the answer, are code of the application.
    scope.run(() => {
      if (!res.writableFinished) context.abort('gone')
      // Otherwise Node would read the unwanted body for as long as it arrives.
      else if (!req.complete) dropBody(req, res)
      context.finish()
    })
    scope.fail = lateFailure({ log, reporter, record, clientAddress: context.clientAddress })
    if (trace?.sampled === true) reportTrace(context, trace)
    requestLog(record, context)
    if (switched) return
    observe?.(record)
    telemetry.observe(record)
  })
}

/** The spans of a request that was sampled. */
function reportTrace(
  { reporter, record, clientAddress, action, data, prefetch }: RequestContext,
  trace: RequestTrace,
): void {
  const { requestId, method, route = '', status, aborted, untraced, startedAt, endedAt, spans } = record
  reporter?.answered({
    trace,
    requestId,
    client: clientKey(clientAddress.address),
    method,
    route,
    kind: action !== undefined ? 'action' : data !== undefined ? 'data' : 'document',
    status,
    prefetch,
    aborted,
    untraced,
    startedAt,
    endedAt,
    spans,
  })
}
