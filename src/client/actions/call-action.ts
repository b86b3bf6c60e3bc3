import { RefusalSignal } from '../../shared/control-flow.ts'
import {
  ACTION_PARAM,
  ACTION_RESULT_ID,
  IDEMPOTENCY_FIELD,
  IDEMPOTENCY_HEADER,
  PAGE_SESSIONS_HEADER,
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
import type { RouteStore } from '../core/data/route-store.ts'
import type { Broadcast } from '../core/navigation/router-parts.ts'
import type { RouterCore } from '../core/navigation/router.ts'
import type { RouteLoadError } from '../react/router-errors.ts'
import { ServerFailure } from '../react/boundaries.tsx'
import type { RouteView } from '../react/route-view.ts'
import type { unhidden } from '../core/page/form-members.ts'
import { callBody, invalidInput } from './call-body.ts'
import type { UploadProgress } from '../react/router-types.ts'
import { focusFirstFault } from './focus-first-fault.ts'
import { sendUpload } from './send-upload.ts'
import { showFresh } from './show-fresh.ts'
import type { MadeCall, UnsentCall } from './unsent-calls.ts'

/**
 * The parts of the client router that calls use. They are passed as functions: a module that both sides import would
 * become a separate file, for which the router would have to wait on every page.
 */
export interface CallHost {
  readonly world: RouteRequestWorld
  readonly known: KnownRoutes
  readonly startRouteRequest: typeof startRouteRequest
  readonly idsOf: RouteStore['idsOf']
  readonly window: Window & typeof globalThis
  readonly retry: Retry
  readonly router: CallRouter
  /** Path and query of the page to which a redirect leads, in the form that the following navigation uses. */
  pageOf(to: string): string
  /** The error to throw if the answer to a call contains no result. */
  unanswered(href: string): Error
  /** Whether the browser reports a network connection. */
  readonly online: () => boolean
  /** Whether the server has another build now. */
  readonly outdated: () => boolean
  /**
   * Loads the page as a document when nothing is lost by it.
   * @param isWaiting whether the page shows nothing that the visitor should read first.
   */
  renew(isWaiting: boolean): void
  /** A call without files is on its way until this resolves. */
  sending(answer: Promise<unknown>): void
  /** Registers a call that was not sent. Rejects if the code for that has not loaded. */
  unsent(call: MadeCall): Promise<UnsentCall>
  /** Drops cached data, here and in other tabs. */
  readonly revalidate: Broadcast
  /** Navigates to a page whose data this request contains. */
  follow(to: string, request?: RouteRequest): void
  /** Makes the browser load a document; typed input is kept. */
  readonly leave: (href: string, kind: 'push' | 'refresh') => void
  /** The page may need the typed input again. */
  readonly keepDrafts: () => void
  /** Members of a form that its fields may hide. */
  readonly unhidden: typeof unhidden
  /** Reports how far a call's files have been sent; `undefined` at the end. */
  progress(id: string, progress: UploadProgress | undefined): void
}

/** The part of the router that calls use. */
type CallRouter = Pick<RouterCore, 'screen' | 'leavingFor' | 'isFormer' | 'show' | 'refresh' | 'forget' | 'catchUp'>

/** How a visitor has called an action. */
export type CallSource = Pick<MadeCall, 'form' | 'by' | 'label'>

/** Calls an action by its id, and returns the next state of `useActionState`. */
export type CallAction = (id: string, args: readonly unknown[], source: CallSource) => Promise<unknown>

/** A pending call. */
interface Call extends CallSource {
  readonly id: string
  /** Whether a different user has signed in since it was made: what a former one has called is not sent for the next. */
  readonly isOthers: () => boolean
  /** Whether its user has left since, by signing out or because a different one has signed in, and is not back. */
  readonly hasLeft: () => boolean
  /** When it was made; its own answers do not count. */
  made: Pick<Page, 'owner' | 'isAway'>
  /** Its answer is of a session that has ended in another tab, and this one has not known. */
  isLate: boolean
  readonly args: readonly unknown[]
  /** What the control held whose change has called. */
  readonly held: string
  /** Asks the visitor what to do, once it was not sent. */
  unsent?: UnsentCall
}

/** Calls of different actions run concurrently, those of one action in order. */
export function createActionCalls(host: CallHost): CallAction {
  /** Bound: one entry per action. */
  const last = new Map<string, Promise<unknown>>()
  const page: Page = { answered: 0, owner: 0, isAway: false }
  const { window } = host
  const { document } = window
  // Until the browser leaves the document, it may itself be sending a form that was pressed before hydration: see
  // `ReceivedCall.formKey`. Only Chromium remembers what was before this code was there.
  let isAgain = window.performance
    .getEntries()
    .some(({ type, name }: Partial<PerformanceNavigationTiming>) => type === 'back_forward' || name === 'hidden')
  window.addEventListener('pagehide', () => (isAgain = true))
  document.addEventListener('millrace:left', () => (page.isAway = true))
  document.addEventListener('millrace:back', () => (page.isAway = false))
  document.addEventListener('millrace:owner', () => {
    page.isAway = false
    page.owner += 1
  })
  /** Pending calls by scripts, by their content; of a form, none is. */
  const made = new Map<string | undefined, { readonly call: Call; readonly result: Promise<unknown> }>()
  return (id, args, source) => {
    const fields = args.at(-1)
    let content: string | undefined
    if (fields instanceof FormData) {
      if (isAgain) fields.delete(IDEMPOTENCY_FIELD)
      // Further calls are meant.
      isAgain = true
    } else content = id + JSON.stringify(args)
    const former = made.get(content)
    // A second press of an unsent call means: send it, once.
    if (former?.call.unsent) {
      former.call.unsent.again()
      return former.result
    }
    const { owner } = page
    const call: Call = {
      id,
      args,
      made: { ...page },
      isOthers: () => page.owner !== owner,
      isLate: false,
      hasLeft: () => call.isLate || page.owner !== call.made.owner || (page.isAway && !call.made.isAway),
      held: heldBy(source),
      ...source,
    }
    const result = Promise.all([last.get(id), untilBack(host)]).then(() => performCall(host, call, page))
    const over = result.catch(() => undefined)
    last.set(id, over)
    if (content) {
      made.set(content, { call, result })
      void over.then(() => made.get(content)?.call === call && made.delete(content))
    }
    return result
  }
}

/** What a former user's code calls waits for that user to be back: the page is about to be replaced. */
function untilBack(host: CallHost): Promise<void> | undefined {
  if (!host.router.isFormer) return undefined
  return new Promise((resolve) =>
    host.window.document.addEventListener('millrace:back', () => resolve(untilBack(host)), { once: true }),
  )
}

interface Page {
  /** Number of answered calls. */
  answered: number
  /** Changes when a different user signs in. */
  owner: number
  /** Its user has signed out, and nobody has signed in since. */
  isAway: boolean
}

async function performCall(host: CallHost, call: Call, page: Page): Promise<unknown> {
  const { args, form } = call
  const { router } = host
  const { visit, href: began, view } = router.screen
  const before = router.leavingFor
  const { answered } = page
  const href = host.pageOf(began)
  /** What its own answer says of sessions does not concern it. */
  const learn: RouteRequestWorld['learn'] = (...news) => {
    const hadLeft = call.hasLeft()
    call.isLate = host.world.learn?.(...news) === true
    if (!hadLeft && news[1]) call.made = { ...page }
  }
  let request: RouteRequest | 'taken back' | 'given up'
  try {
    request = await send({ ...host, world: { ...host.world, learn } }, call, href, view)
  } catch (thrown) {
    host.keepDrafts()
    throw thrown
  }
  if (request === 'taken back') return null
  /** The state does not change. */
  const unchanged = (): unknown => (args.length > 1 && args.at(-1) instanceof FormData ? args.at(-2) : null)
  if (request === 'given up') return unchanged()
  const { head, outcome, segments, status } = request
  if (head?.document || request.failed) {
    host.leave(href, 'refresh')
    return new Promise(() => undefined) // the document is being replaced
  }
  // Somebody else is signed in: it was not run.
  if (head?.others) {
    router.forget(['/*'])
    return unchanged()
  }
  const answer = segments.get(ACTION_RESULT_ID)?.values.data as ActionAnswer | undefined
  if ((answer === undefined || answer.thrown) && !head?.redirect) {
    host.keepDrafts()
    // The visitor's identity or rights may have changed, which layouts around the fallback show.
    if ((outcome && outcome.kind !== 'error') || router.isFormer) router.forget(['/*'])
    throw outcome ? thrownBy(outcome, status) : host.unanswered(href)
  }
  page.answered += 1
  // Its user has left while the answer was on its way.
  if (call.hasLeft()) {
    router.forget(['/*'])
    return unchanged()
  }
  if (answer?.errors !== undefined) {
    // It has ended the session, and has no data of the page.
    if (router.isFormer) router.forget(['/*'])
    if (form) focusFirstFault(host.unhidden(form), answer.errors)
    return invalidInput(args.at(-1), answer, host.window.document)
  }
  // Drafts hear that it is no draft any more, unless the visitor has typed on.
  if (!form && heldBy(call) === call.held) call.by?.dispatchEvent(new Event('millrace:saved'))
  const { redirect } = head ?? {}
  // Another session of the browser may say that its user goes on.
  if (head?.left && router.isFormer) {
    host.leave(redirect?.to ?? href, redirect ? 'push' : 'refresh')
    return new Promise(() => undefined) // the document is being replaced
  }
  const leaving = router.leavingFor
  // After leaving the page, the caller gets no result; but layouts that are still shown may have changed.
  if (router.screen.visit !== visit) void router.catchUp()
  else if (redirect === undefined || host.pageOf(redirect.to) === href) {
    // Data of another build would not fit the components of this one.
    if (host.outdated()) host.renew(answer?.value === undefined)
    // Of concurrent calls, it is unknown which has seen the effects of the other.
    else if (page.answered === answered + 1 && !head?.left) showFresh(host, request)
    else router.forget(['/*'])
    if (redirect?.to.includes('#') && leaving === before) host.follow(redirect.to)
  } else if (leaving === undefined || leaving === before) {
    if (redirect.external || router.isFormer) host.leave(redirect.to, 'push')
    else host.follow(redirect.to, redirected(host, request))
  }
  return answer?.value ?? null
}

function heldBy({ by }: CallSource): string {
  const { value, checked } = (by ?? {}) as Partial<HTMLInputElement>
  return `${value}${checked}`
}

/**
 * Sends a call until it is answered, or the visitor cancels it. An equal key tells the server that it is a repetition.
 */
async function send(
  host: CallHost,
  call: Call,
  href: string,
  view: RouteView,
): Promise<RouteRequest | 'taken back' | 'given up'> {
  const { id, args, form, by, label } = call
  const { outcome } = view
  const leaf = view.chain.at(-1)
  const { body, type } = callBody(args)
  const headers = {
    [IDEMPOTENCY_HEADER]: crypto.getRandomValues(new Uint32Array(4)).join('-'),
    [PAGE_SESSIONS_HEADER]: host.world.pageSessions?.() ?? '',
    ...(type === undefined ? {} : { 'Content-Type': type }),
  }
  const hasFile =
    typeof body !== 'string' && [...body.values()].some((value) => typeof value !== 'string' && value.size > 0)
  const world: RouteRequestWorld = hasFile
    ? { ...host.world, fetch: (url, init) => sendUpload(String(url), init ?? {}, onProgress) }
    : host.world
  const options: CallOptions = {
    href,
    wants: host.idsOf({ route: outcome ? undefined : leaf?.key }),
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
      if (call.isOthers()) return 'given up'
      const answer = startCall(host, world, options, signal)
      if (!hasFile) host.sending(answer)
      const request = await answer
      const failed = request.failed as RouteLoadError | undefined
      if (signal.aborted) return 'taken back'
      const { passing, reason, retryAfterMs } = failed ?? {}
      // An unreadable answer of a server with another build is an answer all the same.
      const isOther = request.status === 409 || (request.status === 200 && reason === 'server' && host.outdated())
      isSent = failed === undefined || isOther
      if (isSent) {
        if (isPutOff(request) && !call.hasLeft() && (await host.retry(attempt, request.retryAfterMs, signal))) continue
        return request
      }
      // Once its user has left, the visitor is asked.
      const mayRetry = passing && host.online() && !call.hasLeft()
      if (mayRetry && (await host.retry(attempt, retryAfterMs, signal)) && !call.hasLeft()) continue
      if (call.isOthers()) return 'given up'
      if (signal.aborted) return 'taken back'
      if (!passing && reason !== 'offline') throw failed
      if (hasFile) host.progress(id, undefined)
      call.unsent ??= await host
        .unsent({ id, madeAt, hasFile, form, by, label, isUncertain: call.hasLeft() })
        .catch(() => {
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

/** Whether it was not run, because what a guard needs is not there yet: a store, or the next cookie of the session. */
function isPutOff({ status, retryAfterMs, segments }: RouteRequest): boolean {
  return status === 503 && retryAfterMs !== undefined && !segments.has(ACTION_RESULT_ID)
}

/** A call's request. `wants` names the data of its page, which the visitor may have left since. */
interface CallOptions extends RouteRequestOptions {
  readonly wants: readonly string[]
}

/** Resolves when everything but deferred values has arrived, or it has failed. */
function startCall(
  { known, revalidate, startRouteRequest, pageOf, idsOf }: CallHost,
  world: RouteRequestWorld,
  options: CallOptions,
  signal: AbortSignal,
): Promise<RouteRequest> {
  const { href, wants } = options
  return new Promise((resolve) => {
    const request = startRouteRequest(options, world, {
      head: ({ params = {} }) => void request.describe(params),
      received(received) {
        const { segment, values } = received
        const { head, params } = request
        known.note(pageOf(head?.redirect?.to ?? href), params, received, head?.at)
        // Later segments in this answer are newer than that.
        const { revalidate: targets, droppedAt } = (segment === ACTION_RESULT_ID ? values.data : {}) as ActionAnswer
        if (targets) revalidate(targets, droppedAt)
      },
      settled(segment, content) {
        const id = segment.segment
        const url = pageOf(request.head?.redirect?.to ?? href)
        const key = known.keyOf(id, url, request.params)
        if (id === ACTION_RESULT_ID) return
        known.keepSegment(id, url, key, { ...segment, ...content })
        // A cached value of equal content is the previous object, so that nothing is rendered again for it.
        const kept = known.entry(key)?.value as typeof segment.values | undefined
        if (kept) request.segments.set(id, { ...segment, values: kept })
      },
      changed() {
        const { over, outcome, segments, head } = request
        const answer = segments.get(ACTION_RESULT_ID)?.values.data as ActionAnswer | undefined
        const ids = head?.redirect ? idsOf(head) : wants
        const isReady =
          answer && !answer.thrown && (!head?.redirect || ids.length > 0) && ids.every((id) => segments.has(id))
        if (!over && !outcome && !isReady) return
        if (head?.route && head.redirect && !outcome) {
          const { redirect, ...page } = head
          known.keepAnswer(pageOf(redirect.to), page)
        }
        resolve(request)
      },
    })
    request.join(signal)
  })
}

/** The request as if it had been made for the target of its redirect; `undefined` if it contains no data for it. */
function redirected({ pageOf }: CallHost, request: RouteRequest): RouteRequest | undefined {
  const { redirect, ...head } = request.head ?? {}
  if (!redirect || head.route === undefined) return undefined
  // Deferred values may still be arriving in it.
  return Object.assign(Object.create(request) as RouteRequest, { head, href: pageOf(redirect.to) })
}

function thrownBy({ kind, digest = '' }: RouteDataOutcome, status: number): Error {
  return kind === 'error' ? Object.assign(new ServerFailure(digest), { status }) : new RefusalSignal(kind)
}
