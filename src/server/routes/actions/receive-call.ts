import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { layoutId, pageId } from '../../../client/react/route-view.ts'
import { ID_FIELD } from '../../../shared/protocol/action-call.ts'
import { bodyKind } from '../../http/body/body-kind.ts'
import { overLimit } from '../../http/body/body-error.ts'
import { BODY_SILENCE_MS, type BodyLimits } from '../../http/body/body-limits.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import type { BodyMemory, HeldBodies } from '../../http/body/held-bodies.ts'
import { clientKey } from '../../http/client-key.ts'
import type { Shares } from '../../http/shares.ts'
import { readBody, type FormBody, type JsonBody } from '../../http/body/read-body.ts'
import type { Admission } from '../../request/admission/admission.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { CallRefusal } from '../../request/answer/refuse-call.ts'
import type { RequestContext } from '../../request/context.ts'
import { forgetEnded } from '../../request/noted-sessions.ts'
import { giveAfterWork } from '../../request/running-work.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import { RenewedSession } from '../../secrets/renewed-session.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import type { Stopped } from '../decide/stopped.ts'
import { actionGuards, serverParts } from '../load/segment-loaders.ts'
import { startLoaders, stoppedBy } from '../load/start-loaders.ts'
import type { DeclaredAction } from './action.ts'
import type { IdempotentCalls } from './idempotent-calls.ts'
import { receivedCall, type ReceivedCall } from './read-call.ts'
import type { ActionRegistry } from './registry.ts'

/** Parts for serving calls. */
export interface ActionParts {
  readonly registry: ActionRegistry
  readonly modules: ModuleCache
  readonly calls: IdempotentCalls
  readonly admission: Admission
  /** Maximum bytes of a body, if the action sets no limit. */
  readonly bodyLimit: number
  readonly heldBodies: HeldBodies
  /** Uploads in progress. */
  readonly uploads: Shares
  /** Public origins; empty to accept the request's own host. */
  readonly origins: readonly string[]
  /** Ids of the segments whose modules import an action. Empty without a build: then it is unknown. */
  readonly segments: ReadonlySet<string>
  /** Counts a form whose action only its body names; `true` if it has been refused and answered. */
  readonly refusesForm?: ((context: RequestContext) => Promise<boolean>) | undefined
}

/** Why an action did not run. */
export type UnperformedCall =
  /** The answer has been sent, or its client has disconnected. */
  | { readonly kind: 'answered' }
  /** @see refuseCall */
  | { readonly kind: 'refused'; readonly status: CallRefusal; readonly reason?: string }
  /** A guard of the page has refused: shows what the page itself would show. */
  | { readonly kind: 'stopped'; readonly stopped: Stopped }

/** A call whose body may be read. */
export interface JudgedCall {
  readonly kind: 'judged'
  /** The action that its URL names. */
  readonly named: DeclaredAction | undefined
  readonly limits: BodyLimits
  /**
   * The page's refusal, if its session has just got a new id, maybe by this call, whose answer is lost. It must not run, but if
   * it has, its outcome has the new cookie.
   */
  readonly renewed?: StoppedCall | undefined
}

/** A guard of its page has refused it. */
export type StoppedCall = Extract<UnperformedCall, { kind: 'stopped' }>

/** A call whose action and fields are known. */
export interface ArrivedCall {
  readonly kind: 'arrived'
  readonly declared: DeclaredAction
  readonly id: string
  readonly received: ReceivedCall
  readonly body: FormBody | JsonBody
}

const MEGABYTE = 1_048_576

/**
 * Judges a call by its head, then asks the page's guards. Does not read its body.
 * @returns `answered` for a visitor above the limit.
 */
export async function judgeCall(
  parts: ActionParts,
  page: MatchedRoute,
  context: RequestContext,
): Promise<JudgedCall | UnperformedCall> {
  if (isForeignCall(context, parts.origins)) return refused(403)
  const named = context.action === undefined ? undefined : parts.registry.get(context.action.id)
  const kind = bodyKind(context.req.headers['content-type'])
  // A form may be posted to any page: its body names the action.
  if (named === undefined && (kind === undefined || kind === 'json'))
    return refused(takesForms(page, parts) ? 415 : 405)
  if (kind === undefined || (kind === 'json' && context.data === undefined)) return refused(415)
  // The others were counted by their URL.
  if (named === undefined && (await parts.refusesForm?.(context)) === true) return { kind: 'answered' }
  const judged: JudgedCall = { kind: 'judged', named, limits: limitsOf(named, parts.bodyLimit) }
  const kept = isGuarded(named) ? await askPage(page, context, parts.modules) : undefined
  if (kept?.kind === 'stopped' && kept.stopped.thrown instanceof RenewedSession) return { ...judged, renewed: kept }
  if (kept !== undefined) dropBody(context.req, context.res)
  return kept ?? judged
}

/**
 * Reads a call: its body, and the action that only its body names. Guards are asked again if a session has ended
 * meanwhile.
 * @param memory as for `readBody`.
 * @throws {BodyError} as `readBody` and `readCall` do.
 */
export async function receiveCall(
  parts: ActionParts,
  { named, limits, memory }: JudgedCall & { readonly memory: BodyMemory },
  page: MatchedRoute,
  context: RequestContext,
): Promise<ArrivedCall | UnperformedCall> {
  const { req } = context
  const isWhole = req.complete
  let bytes = 0
  const hold = (more: number): void => {
    bytes += more
    memory.hold(more)
  }
  const body = await readBody(req, limits, context.signal, { ...memory, hold })
  const declared = named ?? namedInBody(body, parts.registry)
  if (declared?.id === undefined) return refused(hasIdField(body) || takesForms(page, parts) ? 404 : 405)
  if (named === undefined) context.callAction(context.search, { id: declared.id, form: '' })
  // Which limit counts has only been known since.
  const { upload, bodyLimit = Infinity } = declared.definition
  if (named === undefined && upload === undefined && bytes > bodyLimit) throw overLimit('bytes', bodyLimit)
  if (!isWhole && (await forgetEnded(context)) && isGuarded(named)) {
    const kept = await askPage(page, context, parts.modules)
    if (kept !== undefined) {
      discard(body, context)
      return kept
    }
  }
  if (declared.definition.upload !== undefined && !beginUpload(parts.uploads, context)) {
    discard(body, context)
    return refused(503)
  }
  // Not earlier: slow senders must not take places of pages. Uploads take none, because they need their time.
  const { admission } = parts
  const shed =
    declared.definition.upload === undefined
      ? ((await admission.enter(context)) ?? (await admission.turn(context)))
      : undefined
  if (shed !== undefined) {
    await shed.delay()
    return refused(503)
  }
  const { id, name } = declared
  context.record.actionName = name
  return { kind: 'arrived', declared, id, received: receivedCall(body, id, context), body }
}

function discard(body: FormBody | JsonBody, { req, res }: RequestContext): void {
  if (body.kind === 'form') body.discard()
  dropBody(req, res)
}

/** Counts an upload until its answer and its action are over: each may hold a file or a connection of the application. */
function beginUpload(uploads: Shares, context: RequestContext): boolean {
  const client = clientKey(context.clientAddress.address)
  if (uploads.take(client) !== undefined) {
    context.record.refused = 'too many uploads at once'
    return false
  }
  context.onFinish(() => giveAfterWork(context, () => uploads.give(client)))
  return true
}

/**
 * Asks the page's guards, and runs the loaders that guard it, root first, as for its document.
 * @returns `undefined` if all let the call through.
 */
async function askPage(
  page: MatchedRoute,
  context: RequestContext,
  modules: ModuleCache,
): Promise<UnperformedCall | undefined> {
  const { route } = page
  const { guards, modules: named } = serverParts(route)
  const missing = modules.load(named)
  if (missing !== undefined) await missing
  const loaders = actionGuards(route, modules)
  if (guards.length + loaders.length === 0) return undefined
  const started = startLoaders(loaders, { ...page, method: context.req.method }, context, modules)
  const running = started instanceof Promise ? await started : started
  context.record.startAnswer()
  if (running.faults !== undefined) return { kind: 'refused', status: 400, reason: running.reason }
  for (const segment of running.segments) {
    try {
      await segment.result
    } catch (thrown) {
      reportFailure(thrown, context, 'loader', segment.id)
      return { kind: 'stopped', stopped: stoppedBy(thrown, segment, route.chain) }
    }
  }
  return undefined
}

function refused(status: CallRefusal): UnperformedCall {
  return { kind: 'refused', status }
}

/** An action that only the body names is guarded, because its guards are asked before. */
function isGuarded(named: DeclaredAction | undefined): boolean {
  return named?.definition.guarded !== false
}

/** Whether a module of the page imports an action, as far as the build knows. */
export function takesForms({ kind, route }: MatchedRoute, { segments }: ActionParts): boolean {
  if (kind !== 'page') return false
  return segments.has(pageId(route.key)) || route.chain.some((entry) => segments.has(layoutId(entry.key)))
}

function limitsOf(declared: DeclaredAction | undefined, bodyLimit: number): BodyLimits {
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
