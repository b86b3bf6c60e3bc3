import { BodyError } from '../http/body/body-error.ts'
import type { ModuleCache } from '../../client/react/module-cache.ts'
import type { MatchedPage } from './load/matched-page.ts'
import { negotiateEncoding } from '../http/content-encoding.ts'
import { ignoreRejections } from '../http/find-promises.ts'
import { refusedSearch, type RefusedSearch } from './load/start-loaders.ts'
import type { HandlerModule, LoaderArgs, SearchSchema } from '../api/loader-types.ts'
import { addGivenHeaders, setsCookie } from '../request/answer/answer-headers.ts'
import { createBodyStream, type BodyStream } from '../request/answer/body-stream.ts'
import { cachingOf, PRIVATE, takeRuledCaching } from '../request/answer/caching.ts'
import { reportFailure } from '../request/answer/failure.ts'
import { normalizeThrown } from '../request/answer/normalize-thrown.ts'
import { judgeThrown, retryHeaders } from '../request/answer/judge-thrown.ts'
import { send } from '../request/answer/send.ts'
import { sendLocation, sendMethods, sendText } from '../request/answer/send-plain.ts'
import type { HeaderList } from '../http/header-list.ts'
import type { Shares } from '../http/shares.ts'
import { clientKey } from '../http/client-key.ts'
import type { RequestContext } from '../request/context.ts'
import { dropBody, outlastsAnswer } from '../http/body/drop-body.ts'
import { parseSearch } from '../http/search-params.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const RETRY_SECONDS = 2

/**
 * Answers a resource route, or forwards a request, if its client may have one more such answer in progress: event
 * streams and WebSockets hold their place while they are open.
 */
export function admitResource(
  streams: Shares,
  context: RequestContext,
  work: () => Promise<void>,
): Promise<void> | undefined {
  const client = clientKey(context.clientAddress.address)
  const refusal = streams.take(client)
  if (refusal === undefined) {
    context.onFinish(() => streams.give(client))
    return work()
  }
  context.refusal = refusal === 'client' ? 'too many open streams for one client' : 'too many open streams'
  if (outlastsAnswer(context.req)) dropBody(context.req, context.res)
  sendText(context, 503, 'Too busy', ['Retry-After', String(RETRY_SECONDS)])
  return undefined
}

/** Answers a resource route: the module's function for the method returns a `Response`. */
export async function serveResource(
  { route, params, search }: MatchedPage,
  context: RequestContext,
  modules: ModuleCache,
): Promise<void> {
  const loader = route.definition.handler
  if (loader === undefined) return
  try {
    await modules.load([loader])
    const module = modules.get(loader) as HandlerModule
    const method = context.req.method ?? 'GET'
    const handler = Object.hasOwn(module, method) ? module[method] : method === 'HEAD' ? module['GET'] : undefined
    if (typeof handler !== 'function' || !/^[A-Z]+$/.test(method)) return answerMethod(module, method, context)
    const asked = readSearch(module, search)
    if (asked.faults !== undefined) {
      context.refusal = 'search params are not valid'
      if (outlastsAnswer(context.req)) dropBody(context.req, context.res)
      return sendText(context, 400, asked.faults.join('; '))
    }
    const response: unknown = await (handler as (args: LoaderArgs<never, unknown>) => unknown)({
      params,
      search: asked.value,
      request: context.request,
      signal: context.signal,
      context: context.loaderContext,
      cache: () => undefined,
    })
    if (!(response instanceof Response)) throw new TypeError(`${route.key}: ${method} did not return a Response`)
    if (response.bodyUsed || response.body?.locked === true) {
      throw new TypeError(`${route.key}: ${method} returned a Response whose body has been read or sent before`)
    }
    await sendResponse(response, context)
  } catch (thrown) {
    if (context.aborted?.cause === 'gone') return
    sendFailure(normalizeThrown(thrown), context)
  }
}

function readSearch(
  { search: schema }: HandlerModule,
  text: string,
): RefusedSearch | { readonly faults?: undefined; readonly value: unknown } {
  const raw = parseSearch(text)
  if (schema === undefined) return { value: raw }
  const parsed = (schema as SearchSchema).safeParse(raw)
  return parsed.success ? { value: ignoreRejections(parsed.data) } : refusedSearch(parsed.error.issues)
}

function answerMethod(module: HandlerModule, method: string, context: RequestContext): void {
  const allowed: string[] = METHODS.filter((name) => typeof module[name] === 'function')
  if (allowed.includes('GET')) allowed.push('HEAD')
  allowed.push('OPTIONS')
  const listed = allowed.join(', ')
  if (method === 'OPTIONS') sendMethods(context, listed)
  else sendText(context, 405, 'Method not allowed', ['Allow', listed])
}

function sendFailure(thrown: unknown, context: RequestContext): void {
  // A fault of the request's body, not of the handler.
  if (thrown instanceof BodyError && !context.res.headersSent) {
    context.refusal = thrown.message
    dropBody(context.req, context.res)
    return sendText(context, thrown.status, thrown.message)
  }
  if (context.res.headersSent) {
    reportFailure(thrown, context, 'handler')
    return void context.res.destroy()
  }
  if (outlastsAnswer(context.req)) dropBody(context.req, context.res)
  const judged = judgeThrown(thrown)
  if (judged.kind === 'redirect') return sendLocation(context, judged.status, judged.location)
  if (judged.kind === 'refusal') {
    return sendText(context, judged.status, judged.refusal === 'notFound' ? 'Not found' : 'Refused')
  }
  const digest = reportFailure(judged.thrown, context, 'handler')
  const text = `Application error: a server-side exception has occurred\nDigest: ${digest}`
  sendText(context, judged.status, text, retryHeaders(judged))
}

/** Compresses text; not event streams, because proxies and compressors tend to buffer them. */
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*json|[\w.+-]*xml|javascript)|image\/svg)/i

/** Sends a web `Response` with backpressure; cancels its body when the client disconnects. */
export async function sendResponse(response: Response, context: RequestContext): Promise<void> {
  const { req, res } = context
  const headers: HeaderList = []
  for (const [name, value] of response.headers) {
    if (!CONNECTION_HEADERS.has(name) && name !== 'cache-control') headers.push(name, value)
  }
  const bodiless = req.method === 'HEAD' || response.body === null || NO_BODY.has(response.status)
  const compressible =
    COMPRESSIBLE.test(response.headers.get('content-type') ?? '') &&
    !response.headers.has('content-encoding') &&
    !/\bno-transform\b/i.test(response.headers.get('cache-control') ?? '')
  const encoding = compressible ? negotiateEncoding(req.headers['accept-encoding'] as string | undefined) : undefined
  if (compressible) headers.push('Vary', 'Accept-Encoding')
  if (encoding !== undefined) {
    headers.push('Content-Encoding', encoding)
    dropHeader(headers, 'content-length')
  }
  headers.push('Cache-Control', resourceCaching(response, context))
  addGivenHeaders(headers, context)
  // The handler may still read the body, or never: after the answer it would be too late to set this.
  if (outlastsAnswer(req)) res.shouldKeepAlive = false
  send(context, response.status, headers)
  if (bodiless || response.body === null) {
    await response.body?.cancel()
    if (!req.complete) dropBody(req, res)
    res.end()
    return
  }
  // Headers of an event stream must not wait for its first event.
  res.flushHeaders()
  const reader = response.body.getReader()
  // Event streams never end by themselves, and browsers reconnect automatically.
  const isEndless = /^text\/event-stream/i.test(response.headers.get('content-type') ?? '')
  const forget = isEndless ? context.services.onDraining(() => void reader.cancel().catch(() => undefined)) : undefined
  await pump(reader, createBodyStream(res, encoding), context)
  forget?.()
}

/** A rule has priority over the handler. */
function resourceCaching({ status, headers }: Response, context: RequestContext): string {
  const wanted = takeRuledCaching(context) ?? headers.get('cache-control') ?? undefined
  const isPersonal = headers.has('set-cookie') || setsCookie(context)
  return cachingOf({ status, wanted, byDefault: PRIVATE, setsCookie: isPersonal }).value
}

const NO_BODY = new Set([204, 205, 304])
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer'])

function dropHeader(headers: HeaderList, name: string): void {
  const at = headers.findIndex((entry, index) => index % 2 === 0 && entry.toLowerCase() === name)
  if (at !== -1) headers.splice(at, 2)
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  body: BodyStream,
  context: RequestContext,
): Promise<void> {
  let wake: (() => void) | undefined
  body.onDrain(() => wake?.())
  context.onAbort(() => {
    reader.cancel(context.aborted).catch(() => undefined)
    wake?.()
  })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (context.aborted !== undefined) return body.destroy()
      if (done) {
        if (!context.req.complete) dropBody(context.req, context.res)
        return body.end()
      }
      body.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      if (!body.hasCapacity()) await new Promise<void>((resolve) => (wake = resolve))
    }
  } catch (thrown) {
    reportFailure(thrown, context, 'handler')
    body.destroy()
  }
}
