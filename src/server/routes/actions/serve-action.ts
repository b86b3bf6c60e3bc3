import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { ID_FIELD, IDEMPOTENCY_HEADER } from '../../../shared/protocol/action-call.ts'
import { startLoaders } from '../load/start-loaders.ts'
import { actionGuards, serverParts } from '../load/segment-loaders.ts'
import { watchPromises } from '../load/watch-promises.ts'
import type { MatchedPage } from '../load/matched-page.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { Admission } from '../../request/admission/admission.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import type { MeasuredPart } from '../../request/request-record.ts'
import { forgetEnded } from '../../request/noted-sessions.ts'
import type { DeclaredAction } from './action.ts'
import { BodyError } from '../../http/body/body-error.ts'
import { BODY_SILENCE_MS, MAX_STREAMED_FIELD_BYTES } from '../../http/body/body-limits.ts'
import { bodyKind } from '../../http/body/body-kind.ts'
import type { IdempotentCalls } from './idempotent-calls.ts'
import type { HeldBodies } from '../../http/body/held-bodies.ts'
import { textsOf } from '../../request/answer/texts.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { formOf, readBody, type FormBody, type JsonBody } from '../../http/body/read-body.ts'
import { readCall, type ReceivedCall } from './read-call.ts'
import { refuseCall, type CallRefusal } from '../../request/answer/refuse-call.ts'
import type { ActionRegistry } from './registry.ts'
import { runAction, tooLargeInput, type FinishedCall } from './run-action.ts'

/** Parts for serving calls. */
export interface ActionParts {
  readonly registry: ActionRegistry
  readonly modules: ModuleCache
  readonly calls: IdempotentCalls
  readonly admission: Admission
  /** Maximum bytes of a body, if the action sets no limit. */
  readonly bodyLimit: number
  readonly heldBodies: HeldBodies
  /** Counts a form whose action only its body names; `true` if it has been refused and answered. */
  readonly refusesForm?: ((context: RequestContext) => Promise<boolean>) | undefined
}

/** The page on which an action is called. */
export interface CalledPage extends MatchedPage {
  /** Whether a module of the page imports an action, as far as the build knows. */
  readonly takesForms?: boolean
}

/** Result of a call. */
export type CallResult =
  /** The answer has been sent. */
  | { readonly kind: 'answered' }
  /** A guard of the page has refused: shows what the page itself would show. */
  | { readonly kind: 'guarded'; readonly thrown: unknown; readonly boundaryFrom: number }
  | {
      readonly kind: 'finished'
      readonly id: string
      readonly call: FinishedCall
      readonly received: ReceivedCall
    }

const MEGABYTE = 1_048_576
const ANSWERED = { kind: 'answered' } as const

/**
 * Takes a call from its unread body to its outcome: guards of the page, body, bound arguments, schema, handler.
 * Refusals on the way are answered here.
 */
export async function performCall(parts: ActionParts, page: CalledPage, context: RequestContext): Promise<CallResult> {
  const { registry, calls, admission } = parts
  const kind = bodyKind(context.req.headers['content-type'])
  const byScript = context.data !== undefined
  const named = context.action === undefined ? undefined : registry.get(context.action.id)
  const refuse = (status: CallRefusal, reason?: string): typeof ANSWERED => {
    refuseCall(context, status, reason)
    return ANSWERED
  }
  const isForm = kind !== undefined && kind !== 'json'
  // A form may be posted to any page: its body names the action.
  if (named === undefined && !isForm) return refuse(page.takesForms === true ? 415 : 405)
  if (kind === undefined || (kind === 'json' && !byScript)) return refuse(415)
  // The others were counted by their URL.
  if (named === undefined && (await parts.refusesForm?.(context)) === true) return ANSWERED

  const guarded = named?.definition.guarded === false ? undefined : await askGuards(parts, page, context)
  if (guarded !== undefined) {
    dropBody(context.req, context.res)
    return guarded
  }
  const isWhole = context.req.complete
  const limits = limitsOf(named, parts.bodyLimit)
  using held = parts.heldBodies.open(
    limits.streamed ? MAX_STREAMED_FIELD_BYTES : limits.bytes,
    clientKey(context.clientAddress.address),
  )
  let called: Called | undefined
  try {
    const body = await readBody(context.req, limits, context.signal, held.hold)
    const declared = named ?? namedInBody(body, registry)
    if (declared?.id === undefined) return refuse(hasIdField(body) || page.takesForms === true ? 404 : 405)
    if (!isWhole && (await forgetEnded(context)) && named?.definition.guarded !== false) {
      const refused = await askGuards(parts, page, context)
      if (refused !== undefined) {
        if (body.kind === 'form') body.discard()
        dropBody(context.req, context.res)
        return refused
      }
    }
    // Not earlier: slow senders must not take places of pages. Uploads take none, because they need their time.
    const shed = declared.definition.upload === undefined ? await admission.enter(context) : undefined
    if (shed !== undefined) {
      await shed.delay()
      return refuse(503)
    }
    held.run()
    const { id, name } = declared
    context.record.actionName = name
    const received = readReceived(body, id, context)
    called = { declared, received, hasPlace: declared.definition.upload === undefined }
    const run = (): Promise<FinishedCall> =>
      runAction(declared, received, {
        params: page.params,
        context: context.loaderContext,
        call: context,
        dropEarly: (targets) => void context.services.data.revalidate(targets, true),
        texts: () => textsOf(context),
        watch: (value) => watchPromises(value, context, 'action'),
      })
    const key = await idempotencyKey(declared, received, context)
    const call = await context.record.measure<Promise<FinishedCall | 'running'>>(measured(called.declared), () =>
      key === undefined ? run() : calls.run(key, run, context),
    )
    context.forgetReads()
    if (body.kind === 'form') body.discard()
    if (!context.req.complete) dropBody(context.req, context.res)
    // The client router retries by itself, and gets the outcome.
    if (call === 'running') return byScript ? refuse(503, 'a call that is still being worked on') : refuse(409)
    return { kind: 'finished', id, call, received }
  } catch (thrown) {
    if (context.aborted?.cause === 'gone') return ANSWERED
    if (!(thrown instanceof BodyError)) throw thrown
    const shown = await showTooLarge(parts, called ?? callBefore(thrown, named, context), thrown, context)
    return shown ?? refuse(thrown.status, thrown.message)
  }
}

/** How an action is measured. */
function measured({ id, name = id }: Called['declared']): MeasuredPart<FinishedCall | 'running'> {
  return {
    kind: 'action',
    name,
    spanName: () => id,
    thrownIn: (call) => (call !== 'running' && 'thrown' in call.outcome ? [call.outcome.thrown] : undefined),
  }
}

function readReceived(body: FormBody | JsonBody, id: string, context: RequestContext): ReceivedCall {
  const form = context.data === undefined ? (context.action?.form ?? '') : undefined
  return readCall(body, { id, form, once: idempotencyHeader(context) }, context.services.secrets)
}

/** A call whose action and fields are known. */
interface Called {
  readonly declared: DeclaredAction
  readonly received: ReceivedCall
  /** Its page may be rendered: the call has a place among those that are. */
  readonly hasPlace: boolean
}

/** What is known of a call whose body ended at a file that is too large. */
function callBefore(
  { file }: BodyError,
  declared: DeclaredAction | undefined,
  context: RequestContext,
): Called | undefined {
  if (file?.fields === undefined || declared?.id === undefined) return undefined
  try {
    const received = readReceived(formOf(file.fields), declared.id, context)
    return { declared, received, hasPlace: false }
  } catch (thrown) {
    if (thrown instanceof BodyError) return undefined
    throw thrown
  }
}

/** Shows a file that is too large at its field, if the caller shows states and the server has a place for its page. */
async function showTooLarge(
  { admission }: ActionParts,
  called: Called | undefined,
  thrown: BodyError,
  context: RequestContext,
): Promise<CallResult | undefined> {
  if (called?.declared.id === undefined) return undefined
  const { declared, received, hasPlace } = called
  const outcome = await tooLargeInput(declared, received, thrown, context)
  if (outcome === undefined || (!hasPlace && (await admission.enter(context)) !== undefined)) return undefined
  context.record.refused = thrown.message
  dropBody(context.req, context.res)
  return { kind: 'finished', id: called.declared.id, call: { outcome, revalidate: [] }, received }
}

function limitsOf(declared: DeclaredAction | undefined, bodyLimit: number): Parameters<typeof readBody>[1] {
  const { upload, bodyLimit: own = bodyLimit } = declared?.definition ?? {}
  const common = { timeoutMs: BODY_SILENCE_MS, showsFault: declared !== undefined }
  if (upload === undefined) return { ...common, bytes: own, files: 100, fileBytes: own, streamed: false }
  const { files, fileBytes, totalBytes = files * fileBytes + MEGABYTE } = upload
  return { ...common, bytes: totalBytes, files, fileBytes, streamed: true }
}

/** A form that was posted to the page's plain URL names its action in a field. */
function namedInBody(body: FormBody | JsonBody, registry: ActionRegistry): DeclaredAction | undefined {
  const id = body.kind === 'form' ? body.fields.find(([name]) => name === ID_FIELD)?.[1] : undefined
  return typeof id === 'string' ? registry.get(id) : undefined
}

function hasIdField(body: FormBody | JsonBody): boolean {
  return body.kind === 'form' && body.fields.some(([name]) => name === ID_FIELD)
}

const ONCE = IDEMPOTENCY_HEADER.toLowerCase()

function idempotencyHeader({ req }: RequestContext): string | undefined {
  const value = req.headers[ONCE]
  return typeof value === 'string' ? value : undefined
}

/** Asks the page's guards, and runs the loaders that guard it, root first, as for its document. */
async function askGuards(
  { modules }: ActionParts,
  page: CalledPage,
  context: RequestContext,
): Promise<CallResult | undefined> {
  const { guards, modules: named } = serverParts(page.route)
  const missing = modules.load(named)
  if (missing !== undefined) await missing
  const loaders = actionGuards(page.route, modules)
  if (guards.length + loaders.length === 0) return undefined
  const started = startLoaders(loaders, page, context, modules)
  const running = started instanceof Promise ? await started : started
  context.record.startAnswer()
  if (running.faults !== undefined) {
    refuseCall(context, 400, 'search params are not valid')
    return ANSWERED
  }
  for (const { id, result, boundaryFrom } of running.segments) {
    try {
      await result
    } catch (thrown) {
      reportFailure(thrown, context, 'loader', id)
      return { kind: 'guarded', thrown, boundaryFrom }
    }
  }
  return undefined
}
