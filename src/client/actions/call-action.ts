import { RefusalSignal } from '../../shared/control-flow.ts'
import {
  ACTION_PARAM,
  ACTION_RESULT_ID,
  IDEMPOTENCY_HEADER,
  type ActionAnswer,
} from '../../shared/protocol/action-call.ts'
import type { RouteDataOutcome } from '../../shared/protocol/route-data.ts'
import type { KnownRoutes } from '../core/data/known-routes.ts'
import type { Retry } from '../core/data/retry.ts'
import type {
  RouteRequest,
  RouteRequestOptions,
  RouteRequestWorld,
  startRouteRequest,
} from '../core/data/route-request.ts'
import type { dataIds } from '../core/data/route-plan.ts'
import type { RouterCore } from '../core/navigation/router.ts'
import type { RouteLoadError } from '../react/router-errors.ts'
import { ServerFailure } from '../react/boundaries.tsx'
import type { RouteView } from '../react/route-view.ts'
import { callBody, invalidInput } from './call-body.ts'
import type { UploadProgress } from '../react/router-types.ts'
import { focusFirstFault } from './focus-first-fault.ts'
import { sendUpload } from './send-upload.ts'
import type { MadeCall, UnsentCall } from './unsent-calls.ts'

/**
 * What calls need of the client router. Its functions are among it, because a module that both import would be a file of
 * its own, which the router would have to wait for on every page.
 */
export interface CallHost {
  readonly world: RouteRequestWorld
  readonly known: KnownRoutes
  readonly startRouteRequest: typeof startRouteRequest
  readonly dataIds: typeof dataIds
  readonly window: Window & typeof globalThis
  readonly retry: Retry
  readonly router: CallRouter
  /** Path and query of the page that a redirect leads to, as the navigation that follows it will name them. */
  pageOf(to: string): string
  /** What to throw where the answer to a call has come, and says nothing of the call. */
  unanswered(href: string): Error
  /** Whether there is a network, as far as the browser knows. */
  readonly online: () => boolean
  /** Whether the server is of another build by now. */
  readonly outdated: () => boolean
  /**
   * Loads the page as a document when that takes nothing away from the visitor.
   * @param isWaiting whether there is nothing on it that was to be read first.
   */
  renew(isWaiting: boolean): void
  /** Notes a call that was not sent. Rejects where the code for that has not come. */
  unsent(call: MadeCall): Promise<UnsentCall>
  /** Drops what is known, here and in other tabs. */
  revalidate(targets: readonly string[]): void
  /** Goes to a page, whose data this request has brought. */
  follow(to: string, request?: RouteRequest): void
  /** Has the browser load a document; what is typed is kept. */
  readonly leave: (href: string, kind: 'push' | 'refresh') => void
  /** What is typed may be needed again on this page. */
  readonly keepDrafts: () => void
  /** How far a call's files have been sent; `undefined` when that is over. */
  progress(id: string, progress: UploadProgress | undefined): void
}

/** What calls need of the router. */
export type CallRouter = Pick<RouterCore, 'screen' | 'leavingFor' | 'show' | 'refresh' | 'forget' | 'catchUp'>

/** What a visitor has called an action by. */
export type CallSource = Pick<MadeCall, 'form' | 'by' | 'label'>

/** Calls an action by its id, and gives what `useActionState` is to hold. */
export type CallAction = (id: string, args: readonly unknown[], source: CallSource) => Promise<unknown>

/** A call on its way. */
interface Call extends CallSource {
  readonly id: string
  readonly args: readonly unknown[]
  /** What it asks the visitor by, once it was not sent. */
  unsent?: UnsentCall
}

/** Calls of different actions run side by side, those of one in the order in which they were made. */
export function createActionCalls(host: CallHost): CallAction {
  /** Bound: one entry an action. */
  const last = new Map<string, Promise<unknown>>()
  const answered: Answered = { count: 0 }
  /** Those of scripts that are not over, by what they hold. */
  const made = new Map<string, { readonly call: Call; readonly result: Promise<unknown> }>()
  return (id, args, source) => {
    const content = args.at(-1) instanceof FormData ? undefined : id + JSON.stringify(args)
    const former = content === undefined ? undefined : made.get(content)
    // Somebody who presses again what was not sent wants it to be sent, and not twice.
    if (former?.call.unsent) {
      former.call.unsent.again()
      return former.result
    }
    const call: Call = { id, args, ...source }
    const result = (last.get(id) ?? Promise.resolve()).then(() => performCall(host, call, answered))
    const over = result.catch(() => undefined)
    last.set(id, over)
    if (content !== undefined) {
      made.set(content, { call, result })
      void over.then(() => made.get(content)?.call === call && made.delete(content))
    }
    return result
  }
}

/** How many calls have been answered on this page. */
interface Answered {
  count: number
}

async function performCall(host: CallHost, call: Call, answered: Answered): Promise<unknown> {
  const { args, form } = call
  const { router } = host
  const { visit, href: began, view } = router.screen
  const before = router.leavingFor
  const { count } = answered
  const href = host.pageOf(began)
  let request: RouteRequest | 'taken back' | 'given up'
  try {
    request = await send(host, call, href, view)
  } catch (thrown) {
    host.keepDrafts()
    throw thrown
  }
  if (request === 'taken back') return null
  // The state stays as it is.
  if (request === 'given up') return args.length > 1 && args.at(-1) instanceof FormData ? args.at(-2) : null
  const { head, outcome, segments, status } = request
  if (head?.document || request.failed) {
    host.leave(href, 'refresh')
    return new Promise(() => undefined) // the document goes away
  }
  const answer = segments.get(ACTION_RESULT_ID)?.values.data as ActionAnswer | undefined
  if ((answer === undefined || answer.thrown) && !head?.redirect) {
    host.keepDrafts()
    // Who somebody is may have changed, or what they may see: layouts around the fallback show it.
    if (outcome && outcome.kind !== 'error') router.forget(['/*'])
    throw outcome ? thrownBy(outcome, status) : host.unanswered(href)
  }
  answered.count += 1
  if (answer?.errors !== undefined) {
    if (form) focusFirstFault(form, answer.errors)
    return invalidInput(args.at(-1), answer, host.window.document)
  }
  const { redirect } = head ?? {}
  const leaving = router.leavingFor
  // Whoever has gone elsewhere, or is about to, is not called back; layouts that stand there too may show what has changed.
  if (router.screen.visit !== visit) void router.catchUp()
  else if (redirect === undefined || host.pageOf(redirect.to) === href) {
    // Data of another build would not fit the components of this one.
    if (host.outdated()) host.renew(answer?.value === undefined)
    // Nobody knows which of two that were under way at once has seen what the other one did.
    else if (answered.count === count + 1) showFresh(host, request)
    else router.forget(['/*'])
    if (redirect?.to.includes('#') && leaving === before) host.follow(redirect.to)
  } else if (leaving === undefined || leaving === before) {
    if (redirect.external) host.leave(redirect.to, 'push')
    else host.follow(redirect.to, redirected(host, request))
  }
  return answer?.value ?? null
}

/**
 * Sends a call until it is answered, or the visitor does not want that any more. By an equal key the server tells a
 * repetition from another call.
 */
async function send(
  host: CallHost,
  call: Call,
  href: string,
  view: RouteView,
): Promise<RouteRequest | 'taken back' | 'given up'> {
  const { id, args, form, by, label } = call
  const { chain, outcome } = view
  const leaf = chain.at(-1)
  const { body, type } = callBody(args)
  const headers = {
    [IDEMPOTENCY_HEADER]: crypto.getRandomValues(new Uint32Array(4)).join('-'),
    ...(type === undefined ? {} : { 'Content-Type': type }),
  }
  const hasFile =
    typeof body !== 'string' && [...body.values()].some((value) => typeof value !== 'string' && value.size > 0)
  const world: RouteRequestWorld = hasFile
    ? { ...host.world, fetch: (url, init) => sendUpload(String(url), init ?? {}, onProgress) }
    : host.world
  const options: CallOptions = {
    href,
    wants: host.dataIds(outcome ? undefined : leaf && { ...leaf, chain }),
    prefetch: false,
    force: false,
    call: { query: `${ACTION_PARAM}=${id}`, headers, body },
  }
  const controller = new AbortController()
  const { signal } = controller
  const cancel = (): void => controller.abort()
  const onProgress = (loaded: number, total: number): void => host.progress(id, { loaded, total, cancel })
  const madeAt = host.world.now()
  let isSent = false
  try {
    for (let attempt = 0; ; attempt += 1) {
      const request = await startCall(host, world, options, signal)
      const failed = request.failed as RouteLoadError | undefined
      if (signal.aborted) return 'taken back'
      const { passing, reason, retryAfterMs } = failed ?? {}
      // What cannot be read, of a server of another build, was answered by it all the same.
      const isOther = request.status === 409 || (request.status === 200 && reason === 'server' && host.outdated())
      isSent = failed === undefined || isOther
      if (isSent) return request
      if (passing && host.online() && (await host.retry(attempt, retryAfterMs, signal))) continue
      if (signal.aborted) return 'taken back'
      if (!passing && reason !== 'offline') throw failed
      if (hasFile) host.progress(id, undefined)
      call.unsent ??= await host.unsent({ madeAt, hasFile, form, by, label }).catch(() => {
        throw failed
      })
      if (!(await call.unsent.ask(reason === 'offline' ? 'offline' : 'busy'))) return 'given up'
      attempt = -1
    }
  } finally {
    if (hasFile) host.progress(id, undefined)
    call.unsent?.end(isSent)
  }
}

/** A call's request. `wants` names the data of the page it was made on, which the visitor may have left since. */
interface CallOptions extends RouteRequestOptions {
  readonly wants: readonly string[]
}

/** Resolves when all but deferred values is here, or it has failed. */
function startCall(
  { known, revalidate, startRouteRequest, pageOf }: CallHost,
  world: RouteRequestWorld,
  options: CallOptions,
  signal: AbortSignal,
): Promise<RouteRequest> {
  const { href, wants } = options
  return new Promise((resolve) => {
    const request = startRouteRequest(options, world, {
      head({ params = {} }) {
        request.params = params
      },
      received({ segment, uses, values }) {
        known.noteUses(segment, uses)
        // What follows in this answer is newer than that.
        const { revalidate: targets } = (segment === ACTION_RESULT_ID ? values.data : {}) as ActionAnswer
        if (targets !== undefined) revalidate(targets)
      },
      settled(segment, content) {
        const id = segment.segment
        const url = pageOf(request.head?.redirect?.to ?? href)
        if (id !== ACTION_RESULT_ID) {
          known.keepSegment(id, url, known.keyOf(id, url, request.params), { ...segment, ...content })
        }
      },
      changed() {
        const { over, outcome, segments, head } = request
        if (over && head?.route && head.redirect && !outcome) {
          const { redirect, ...page } = head
          known.keepVerdict(pageOf(redirect.to), page)
        }
        const answer = segments.get(ACTION_RESULT_ID)?.values.data as ActionAnswer | undefined
        const isReady =
          answer !== undefined && !answer.thrown && !head?.redirect && wants.every((id) => segments.has(id))
        if (over || outcome !== undefined || isReady) resolve(request)
      },
    })
    request.join(signal)
  })
}

/** As if it had asked for the page that it leads to; `undefined` where it has brought no data of that. */
function redirected({ pageOf }: CallHost, request: RouteRequest): RouteRequest | undefined {
  const { redirect, ...head } = request.head ?? {}
  if (!redirect || head.route === undefined) return undefined
  return { ...request, head, href: pageOf(redirect.to) }
}

/** Puts fresh data into the page on screen. */
function showFresh({ known, router }: CallHost, request: RouteRequest): void {
  const { view, page, fallback } = router.screen
  const { head, outcome, segments, href, params } = request
  // What was refused may be let through now: signing in on the page of a 401.
  if (outcome ?? view.outcome ?? fallback ?? head?.route !== view.chain.at(-1)?.key) return router.refresh()
  const data: Record<string, unknown> = { ...view.data }
  const keys = new Set(page.keys)
  let { search } = view
  for (const [id, { values }] of segments) {
    if (id === ACTION_RESULT_ID) continue
    const key = known.keyOf(id, href, params)
    // Kept values of equal content are the former object, so that nothing is rendered anew for them.
    const fresh = (known.entry(key)?.value as typeof values | undefined) ?? values
    keys.add(key)
    data[id] = fresh.data
    if (fresh.search !== undefined) search = fresh.search
  }
  router.show({ ...view, data, search }, [...keys])
}

function thrownBy({ kind, digest = '' }: RouteDataOutcome, status: number): Error {
  return kind === 'error' ? Object.assign(new ServerFailure(digest), { status }) : new RefusalSignal(kind)
}
