import { RefusalSignal } from '../../shared/control-flow.ts'
import { ACTION_PARAM, ACTION_RESULT_ID, ONCE_HEADER, type ActionAnswer } from '../../shared/protocol/action-call.ts'
import type { RouteDataOutcome } from '../../shared/protocol/route-data.ts'
import type { KnownRoutes } from '../core/known-routes.ts'
import type { Retry } from '../core/retry.ts'
import type { Flight, FlightWorld, startFlight } from '../core/route-flight.ts'
import type { RouterScreen } from '../core/router.ts'
import { ServerFailure } from '../react/boundaries.tsx'
import { dataIds, type RouteView } from '../react/route-view.ts'
import { callBody, invalidInput } from './call-body.ts'
import type { UploadProgress } from '../router-types.ts'
import { focusFirstFault } from './focus-first-fault.ts'
import { sendUpload } from './send-upload.ts'

/**
 * What calls need of the client router. Its functions are among it, because a module that both import would be a file of
 * its own, which the router would have to wait for on every page.
 */
export interface CallHost {
  readonly world: FlightWorld
  readonly known: KnownRoutes
  readonly startFlight: typeof startFlight
  readonly document: Document
  readonly retry: Retry
  /** Path and query of the page that a redirect leads to, as the navigation that follows it will name them. */
  pageOf(to: string): string
  /** What to throw where the answer to a call has come, and says nothing of the call. */
  unanswered(href: string): Error
  readonly screen: () => RouterScreen
  /** Id of the navigation that is on its way to another page. */
  readonly leaving: () => number | undefined
  /** Renders fresh data of the page on screen; `keys` are those of its entries in the cache. */
  show(view: RouteView, keys: readonly string[]): void
  /** What is on the screen must be asked for by itself. */
  refresh(): void
  /** Drops what is known, and asks again for what of it is on the screen. */
  forget(targets: readonly string[]): void
  /** What is on the screen may be older than what is known. */
  catchUp(): void
  /** Drops what is known, here and in other tabs. */
  revalidate(targets: readonly string[]): void
  /** Goes to a page, whose data this request has brought. */
  follow(to: string, flight?: Flight): void
  /** Has the browser load a document; what is typed is kept. */
  leave(href: string, kind: 'push' | 'refresh'): void
  /** What is typed may be needed again on this page. */
  keepDrafts(): void
  /** How far a call's files have been sent; `undefined` when that is over. */
  progress(id: string, progress: UploadProgress | undefined): void
}

/**
 * Calls an action by its id, and gives what `useActionState` is to hold.
 * @param form whose call it is, where a form is being sent.
 */
export type CallAction = (id: string, args: readonly unknown[], form?: HTMLFormElement) => Promise<unknown>

/** Calls of different actions run side by side, those of one in the order in which they were made. */
export function createActionCalls(host: CallHost): CallAction {
  /** Bound: one entry an action. */
  const last = new Map<string, Promise<unknown>>()
  const answered: Answered = { count: 0 }
  return (id, args, form) => {
    const result = (last.get(id) ?? Promise.resolve()).then(() => performCall(host, id, args, form, answered))
    last.set(
      id,
      result.catch(() => undefined),
    )
    return result
  }
}

/** How many calls have been answered on this page. */
interface Answered {
  count: number
}

async function performCall(
  host: CallHost,
  id: string,
  args: readonly unknown[],
  form: HTMLFormElement | undefined,
  answered: Answered,
): Promise<unknown> {
  const { visit, href: began } = host.screen()
  const before = host.leaving()
  const { count } = answered
  const href = host.pageOf(began)
  let flight: Flight | undefined
  try {
    flight = await send(host, id, href, args)
  } catch (thrown) {
    host.keepDrafts()
    throw thrown
  }
  if (flight === undefined) return null // the visitor has taken it back
  const { head, outcome, segments, status } = flight
  if (head?.document || status === 409) {
    host.leave(href, 'refresh')
    return new Promise(() => undefined) // the document goes away
  }
  const answer = segments.get(ACTION_RESULT_ID)?.values.data as ActionAnswer | undefined
  if ((answer === undefined || answer.thrown) && !head?.redirect) {
    host.keepDrafts()
    throw outcome ? thrownBy(outcome) : host.unanswered(href)
  }
  answered.count += 1
  if (answer?.errors !== undefined) {
    if (form) focusFirstFault(form, answer.errors)
    return invalidInput(args.at(-1), answer, host.document)
  }
  const { redirect } = head ?? {}
  const leaving = host.leaving()
  // Whoever has gone elsewhere, or is about to, is not called back; layouts that stand there too may show what has changed.
  if (host.screen().visit !== visit) host.catchUp()
  else if (redirect === undefined || host.pageOf(redirect.to) === href) {
    // Nobody knows which of two that were under way at once has seen what the other one did.
    if (answered.count === count + 1) showFresh(host, flight)
    else host.forget(['/*'])
    if (redirect?.to.includes('#') && leaving === before) host.follow(redirect.to)
  } else if (leaving === undefined || leaving === before) {
    if (redirect.external) host.leave(redirect.to, 'push')
    else host.follow(redirect.to, redirected(host, flight))
  }
  return answer?.value ?? null
}

/** Sends a call until it is answered. By an equal key the server tells a repetition from another call. */
async function send(host: CallHost, id: string, href: string, args: readonly unknown[]): Promise<Flight | undefined> {
  const { body, type } = callBody(args)
  const headers = {
    [ONCE_HEADER]: crypto.getRandomValues(new Uint32Array(4)).join('-'),
    ...(type === undefined ? {} : { 'Content-Type': type }),
  }
  const hasFile =
    typeof body !== 'string' && [...body.values()].some((value) => typeof value !== 'string' && value.size)
  const world: FlightWorld = hasFile
    ? { ...host.world, fetch: (url, init) => sendUpload(String(url), init ?? {}, onProgress) }
    : host.world
  const controller = new AbortController()
  const { signal } = controller
  const cancel = (): void => controller.abort()
  const onProgress = (loaded: number, total: number): void => host.progress(id, { loaded, total, cancel })
  try {
    for (let attempt = 0; ; attempt += 1) {
      const flight = await startCall(host, world, href, { query: `${ACTION_PARAM}=${id}`, headers, body }, signal)
      const { failed } = flight
      // 409: the server is of another build.
      if (failed === undefined || flight.status === 409) return flight
      if (signal.aborted) return undefined
      const passing = 'passing' in failed && failed.passing
      if (!passing || !(await host.retry(attempt, flight.retryAfterMs, signal))) throw failed
    }
  } finally {
    if (hasFile) host.progress(id, undefined)
  }
}

/** Resolves when all but deferred values is here, or it has failed. */
function startCall(
  { known, screen, revalidate, startFlight, pageOf }: CallHost,
  world: FlightWorld,
  href: string,
  call: NonNullable<Flight['call']>,
  signal: AbortSignal,
): Promise<Flight> {
  const { chain, outcome: shown } = screen().view
  const leaf = chain.at(-1)
  const wants = leaf === undefined || shown !== undefined ? [] : dataIds({ ...leaf, chain })
  return new Promise((resolve) => {
    const flight = startFlight({ href, wants, prefetch: false, force: false, call }, world, {
      head({ params = {} }) {
        flight.params = params
      },
      received({ segment, uses, values }) {
        known.noteUses(segment, uses)
        // What follows in this answer is newer than that.
        const { revalidate: targets } = (segment === ACTION_RESULT_ID ? values.data : {}) as ActionAnswer
        if (targets !== undefined) revalidate(targets)
      },
      settled(segment, content) {
        const id = segment.segment
        const url = pageOf(flight.head?.redirect?.to ?? href)
        if (id !== ACTION_RESULT_ID) {
          known.keepSegment(id, url, known.keyOf(id, url, flight.params), { ...segment, ...content })
        }
      },
      changed() {
        const { over, outcome, segments, head } = flight
        if (over && head?.route && head.redirect && !outcome) {
          const { redirect, ...page } = head
          known.keepVerdict(pageOf(redirect.to), page)
        }
        const answer = segments.get(ACTION_RESULT_ID)?.values.data as ActionAnswer | undefined
        const isReady =
          answer !== undefined && !answer.thrown && !head?.redirect && wants.every((id) => segments.has(id))
        if (over || outcome !== undefined || isReady) resolve(flight)
      },
    })
    flight.join(signal)
  })
}

/** As if it had asked for the page that it leads to; `undefined` where it has brought no data of that. */
function redirected({ pageOf }: CallHost, flight: Flight): Flight | undefined {
  const { redirect, ...head } = flight.head ?? {}
  if (!redirect || head.route === undefined) return undefined
  return { ...flight, head, href: pageOf(redirect.to) }
}

/** Puts fresh data into the page on screen. */
function showFresh({ known, screen, refresh, show }: CallHost, flight: Flight): void {
  const { view, page } = screen()
  const { head, outcome, segments, href, params } = flight
  // What was refused may be let through now: signing in on the page of a 401.
  if (outcome ?? view.outcome ?? head?.route !== view.chain.at(-1)?.key) return refresh()
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
  show({ ...view, data, search }, [...keys])
}

function thrownBy({ kind, digest = '' }: RouteDataOutcome): Error {
  return kind === 'error' ? new ServerFailure(digest) : new RefusalSignal(kind)
}
