import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { checkValue, type CheckedValue, type Schema } from '../../../shared/schema.ts'
import type { HandlerArgs, HandlerModule } from '../../api/loader-types.ts'
import { BodyError, overLimit } from '../../http/body/body-error.ts'
import { dropBody, outlastsAnswer } from '../../http/body/drop-body.ts'
import { clientKey } from '../../http/client-key.ts'
import { ignoreRejections } from '../../values/find-promises.ts'
import { parseSearch } from '../../http/search-params.ts'
import type { Shares } from '../../http/shares.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { judgeThrown, retryHeaders } from '../../request/answer/judge-thrown.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { sendLocation, sendMethods } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import { forgetEnded } from '../../request/noted-sessions.ts'
import { giveAfterWork } from '../../request/running-work.ts'
import type { Admission } from '../../request/admission/admission.ts'
import type { UnreadAnswers } from '../../request/admission/unread-answers.ts'
import { askGuards } from '../load/ask-guards.ts'
import { checkParams } from '../load/check-params.ts'
import { refusedInput, refusedSearch, type RefusedInput } from '../load/check-search.ts'
import { serverParts } from '../load/segment-loaders.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import { untilAborted } from '../load/until-aborted.ts'
import { bodySchema, holdBody, holdWholeBody, parseBody, type BodyParts } from './parse-body.ts'
import type { EventStreamParts } from './send-events.ts'
import { fileFault, sendNoFile, watchedArgs } from './handler-file.ts'
import { sendFault } from './send-fault.ts'
import { sendResponse } from './send-response.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const RETRY_SECONDS = 2

/**
 * Answers a resource route, or forwards a request, if its client may have one more such answer in progress: event
 * streams and WebSockets hold their place while they are open, and others until their handler has settled.
 */
export function admitResource(
  streams: Shares,
  context: RequestContext,
  work: () => Promise<void>,
): Promise<void> | undefined {
  const client = clientKey(context.clientAddress.address)
  const refusal = streams.take(client)
  if (refusal === undefined) {
    context.onFinish(() => giveAfterWork(context, () => streams.give(client)))
    return work()
  }
  context.record.refused = refusal === 'client' ? 'too many open streams for one client' : 'too many open streams'
  if (outlastsAnswer(context.req)) dropBody(context.req, context.res)
  sendFault(context, { status: 503, text: 'Too busy' }, ['Retry-After', String(RETRY_SECONDS)])
  return undefined
}

/** Parts for answering resource routes. */
export interface ResourceParts {
  readonly modules: ModuleCache
  /** Whether the answers become files; see `fileFault`. */
  readonly forFiles: boolean
  /** Maximum bytes of a request's body, if the module sets no limit. */
  readonly bodyLimit: number
  /** For modules with a schema for the body. */
  readonly bodies: BodyParts
  /** Its places never take all those of `admitResource`. */
  readonly eventStreams: EventStreamParts
  readonly admission: Pick<Admission, 'turnWhenDue'>
  /** Counts what waits for slow readers. */
  readonly unread: UnreadAnswers
}

/** Answers a resource route: the module's function for the method returns a `Response`. */
export async function serveResource(page: MatchedRoute, context: RequestContext, parts: ResourceParts): Promise<void> {
  const { route } = page
  const { modules } = parts
  const loader = route.definition.handler
  if (loader === undefined) return
  using _ = context.work.begin()
  const asked: AskedHandler = { isGuard: false, parsesBody: false }
  try {
    const { guards } = serverParts(route)
    await modules.load(guards.length === 0 ? [loader] : [loader, ...guards.map((guard) => guard.module)])
    const module = modules.get(loader) as HandlerModule
    const method = context.req.method ?? 'GET'
    const handler = Object.hasOwn(module, method) ? module[method] : method === 'HEAD' ? module['GET'] : undefined
    if (typeof handler !== 'function' || !/^[A-Z]+$/.test(method)) return answerMethod(module, method, context)
    const limit = setLimit(module.bodyLimit ?? parts.bodyLimit, page, context)
    holdWholeBody(limit, context, parts.bodies)
    const letIn = async (): Promise<void> => {
      asked.isGuard = true
      const { refusal } = await askGuards(page, context, modules)
      if (refusal !== undefined) throw refusal.thrown
      asked.isGuard = false
    }
    if (guards.length > 0) await letIn()
    const isWhole = context.req.complete
    const schema = bodySchema(module, method, route.key)
    asked.parsesBody = schema !== undefined
    if (Number(context.req.headers['content-length'] ?? 0) > limit) throw overLimit('bytes', limit)
    const params =
      module.params === undefined ? page.params : await untilAborted(checkParams(module.params, page.params), context)
    const { issues, value: search } = await checkHandlerSearch(module.search, page.search, context)
    if (issues !== undefined) return refuse(400, refusedSearch(issues), context)
    using held = schema && holdBody(limit, context, parts.bodies)
    const parsed = schema && held && (await parseBody(schema, held, context, parts.bodies))
    if (parsed && !isWhole && (await forgetEnded(context)) && guards.length > 0) await letIn()
    if (parsed?.issues !== undefined)
      return refuse(422, refusedInput(parsed.issues, 'the body is not valid', parsed.nameOf), context)
    const args = {
      params: params as never,
      search,
      body: parsed?.value,
      signal: context.signal,
      context: context.loaderContext,
      variants: {},
      cache: () => undefined,
    }
    const turn = parts.admission.turnWhenDue(context)
    if (turn !== undefined) await turn
    if (context.aborted?.cause === 'gone') return
    const { forFiles } = parts
    const response: unknown = await (handler as (args: HandlerArgs<never, unknown, unknown, unknown>) => unknown)(
      forFiles ? watchedArgs(args, context) : { ...args, request: context.request },
    )
    if (context.audience.isOpening) await untilAborted(context.audience.whenOpened(), context)
    // An answer may be sent for long: an event stream for half an hour.
    held?.[Symbol.dispose]()
    if (!(response instanceof Response)) throw new TypeError(`${route.key}: ${method} did not return a Response`)
    if (response.bodyUsed || response.body?.locked === true) {
      throw new TypeError(`${route.key}: ${method} returned a Response whose body has been read or sent before`)
    }
    const fault = forFiles ? await fileFault(response, context) : undefined
    if (fault !== undefined) return sendNoFile(context, fault)
    await sendResponse(response, context, parts)
  } catch (thrown) {
    if (context.aborted?.cause === 'gone') return
    sendFailure(normalizeThrown(thrown), context, asked)
  }
}

/** How far a request to a handler has come. */
interface AskedHandler {
  /** Whether a guard is being asked. */
  isGuard: boolean
  /** Whether the module has a schema for the body. */
  parsesBody: boolean
}

/** Bounds what guards and the handler may read of the body. */
function setLimit(limit: unknown, { route }: MatchedRoute, context: RequestContext): number {
  if (typeof limit !== 'number' || !(limit >= 0)) {
    throw new TypeError(`${route.key}: bodyLimit is not a number of bytes, 0 or more`)
  }
  context.body.limit = limit
  return limit
}

async function checkHandlerSearch(
  schema: Schema | undefined,
  text: string,
  context: RequestContext,
): Promise<CheckedValue> {
  const raw = parseSearch(text)
  if (schema === undefined) return { value: raw }
  const checking = checkValue(schema, raw)
  const checked = checking instanceof Promise ? await untilAborted(checking, context) : checking
  return checked.issues === undefined ? { value: ignoreRejections(checked.value) } : checked
}

/** @param status 422 for a body, which programs send. */
function refuse(status: 400 | 422, { reason, faults, errors }: RefusedInput, context: RequestContext): void {
  context.record.refused = reason
  if (outlastsAnswer(context.req)) dropBody(context.req, context.res)
  sendFault(context, { status, text: faults.join('; '), members: { errors }, isForPrograms: status === 422 })
}

function answerMethod(module: HandlerModule, method: string, context: RequestContext): void {
  const allowed: string[] = METHODS.filter((name) => typeof module[name] === 'function')
  if (allowed.includes('GET')) allowed.push('HEAD')
  allowed.push('OPTIONS')
  const listed = allowed.join(', ')
  if (method === 'OPTIONS') sendMethods(context, listed)
  else sendFault(context, { status: 405, text: 'Method not allowed' }, ['Allow', listed])
}

function sendFailure(thrown: unknown, context: RequestContext, { isGuard, parsesBody }: AskedHandler): void {
  // A fault of the request's body, not of the handler.
  if (thrown instanceof BodyError && !context.res.headersSent) {
    context.record.refused = thrown.message
    dropBody(context.req, context.res)
    return sendFault(context, { status: thrown.status, text: thrown.message, isForPrograms: parsesBody })
  }
  if (context.res.headersSent) {
    reportFailure(thrown, context, 'handler')
    return void context.res.destroy()
  }
  if (outlastsAnswer(context.req)) dropBody(context.req, context.res)
  const judged = judgeThrown(thrown)
  if (judged.kind === 'redirect') {
    // What was sent to the handler is not for the page to which its guard redirects.
    const repeats = isGuard && !['GET', 'HEAD'].includes(context.req.method ?? 'GET')
    return sendLocation(context, repeats ? 303 : judged.status, judged.location)
  }
  if (judged.kind === 'refusal') {
    return sendFault(context, {
      status: judged.status,
      text: judged.refusal === 'notFound' ? 'Not found' : 'Refused',
    })
  }
  const digest = reportFailure(judged.thrown, context, 'handler')
  const detail = 'Application error: a server-side exception has occurred'
  sendFault(
    context,
    { status: judged.status, text: `${detail}\nDigest: ${digest}`, members: { detail, digest } },
    retryHeaders(judged),
  )
}
