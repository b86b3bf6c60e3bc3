/** A page that calls actions, and the server at the other end; what is done to the page is noted. */
// Loaded here, so that no test waits for it in the middle of an answer.
import '../../../src/shared/protocol/decode-values.ts'
import { createActionCalls, type CallHost } from '../../../src/client/actions/call-action.ts'
import { createJournal } from '../../../src/client/core/data/journal.ts'
import { createKnownRoutes, type RouteAnswer } from '../../../src/client/core/data/known-routes.ts'
import { withoutHash } from '../../../src/client/core/data/local-href.ts'
import { createRetry } from '../../../src/client/core/data/retry.ts'
import { startRouteRequest, type RouteRequest } from '../../../src/client/core/data/route-request.ts'
import { RouteLoadError } from '../../../src/client/react/router-errors.ts'
import { ROUTE_DATA_TYPE } from '../../../src/shared/protocol/route-data.ts'
import type { MadeCall, UnsentCall } from '../../../src/client/actions/unsent-calls.ts'

export const BUILD = 'b1'

/** A call that the server has got. */
export interface Got {
  readonly action: string
  readonly once: string
  readonly body: unknown
  answer(status: number, ...records: readonly object[]): void
  /** As a proxy or the runtime's guards do it. */
  text(status: number, headers?: Record<string, string>): void
  breakOff(): void
}

/** The first line of an answer. */
export const head = { v: 1, build: BUILD, route: '/form', params: {}, scope: 'path' }
/** The action's own segment. */
export const result = (data: object) => ({ segment: '#action', data, lifetime: 0 })
/** Fresh data of the page. */
export const pageData = (data: unknown) => ({ segment: '/form#page', data })

function buildOf([first]: readonly object[]): string {
  return (first as { readonly build?: string } | undefined)?.build ?? BUILD
}

/** The page `/form` with data of its own, whatever is done to it, and the server at the other end. */
/** @param entries that the browser has of the document. */
export function world(entries: readonly object[] = []) {
  const got: Got[] = []
  const done: unknown[][] = []
  const note =
    (name: string) =>
    (...args: unknown[]): void =>
      void done.push([name, ...args])
  const entry = { key: '/form', definition: { page: () => undefined, loader: () => undefined } }
  const state = {
    visit: 1,
    leaving: undefined as number | undefined,
    data: { '/form#page': 0 } as Record<string, unknown>,
    outcome: undefined as { kind: string; at: number } | undefined,
    online: true,
    outdated: false,
    isFormer: false,
    /** Answers to what the visitor is asked about a call that was not sent. */
    asked: [] as { readonly made: MadeCall; readonly why: string; readonly settle: (again: boolean) => void }[],
    /** Whether the code for that is here. */
    isLoaded: true,
  }
  const known = createKnownRoutes(
    () => 0,
    () => undefined,
  )
  const document = Object.assign(new EventTarget(), { querySelectorAll: () => [] })
  const window = Object.assign(new EventTarget(), {
    document,
    performance: { getEntries: () => entries },
  })
  const host = {
    window,
    world: {
      buildId: BUILD,
      now: () => 0,
      outdated: () => void (state.outdated = true),
      busy: () => undefined,
      journal: createJournal(),
      fetch: (url: string, init: { headers: Record<string, string>; body: unknown }) =>
        new Promise<Response>((resolve, reject) => {
          got.push({
            action: new URL(url, 'http://a').searchParams.get('_action') ?? '',
            once: init.headers['X-Millrace-Once'] ?? '',
            body: init.body,
            answer: (status, ...records) =>
              resolve(
                new Response([...records, { done: true }].map((line) => JSON.stringify(line)).join('\n') + '\n', {
                  status,
                  headers: { 'Content-Type': ROUTE_DATA_TYPE, 'X-Millrace-Build': buildOf(records) },
                }),
              ),
            text: (status, headers = {}) => resolve(new Response('no', { status, headers })),
            breakOff: () => reject(new TypeError('network')),
          })
        }),
    },
    known,
    startRouteRequest,
    idsOf: ({ route }: RouteAnswer = {}) => (route ? [`${route}#page`] : []),
    retry: createRetry(
      () => 0.5,
      (milliseconds) => {
        note('wait')(milliseconds)
        return Promise.resolve()
      },
    ),
    pageOf: withoutHash,
    sending: () => undefined,
    unanswered: (href: string) => new RouteLoadError('route data', href),
    online: () => state.online,
    outdated: () => state.outdated,
    unsent: (made: MadeCall): Promise<UnsentCall> => {
      if (!state.isLoaded) return Promise.reject(new Error('no network'))
      return Promise.resolve({
        ask: (why) => new Promise((settle) => state.asked.push({ made, why, settle })),
        again: () => state.asked.at(-1)?.settle(true),
        end: (sent) => note('end')(sent),
      })
    },
    router: {
      get screen() {
        return {
          href: '/form#here',
          visit: state.visit,
          page: { keys: [] },
          view: { chain: [entry], params: {}, search: {}, data: state.data, outcome: state.outcome },
        }
      },
      get isFormer() {
        return state.isFormer
      },
      get leavingFor() {
        return state.leaving
      },
      show: (view: { data: Record<string, unknown> }) => {
        state.data = view.data
        note('show')(view.data['/form#page'])
        return view
      },
      ...Object.fromEntries(['refresh', 'forget', 'catchUp'].map((name) => [name, note(name)])),
    },
    revalidate(targets: readonly string[], at?: number) {
      known.revalidate(targets)
      note('revalidate')(targets, at)
    },
    follow: (to: string, request?: RouteRequest) =>
      void done.push(['follow', to, request && [request.href, request.head, [...request.segments.keys()]]]),
    unhidden: <Some>(form: Some) => form,
    ...Object.fromEntries(['leave', 'keepDrafts', 'progress', 'renew'].map((name) => [name, note(name)])),
  }
  const callAction = createActionCalls(host as unknown as CallHost)
  const call = (id: string, args: readonly unknown[]) => callAction(id, args, { form: undefined, by: undefined })
  /** The browser goes to another document, and may come back. */
  const hide = (): unknown => window.dispatchEvent(new Event('pagehide'))
  /** A different user signs in. */
  const changeOwner = (): unknown => document.dispatchEvent(new Event('millrace:owner'))
  /** A user signs out. */
  const leave = (): unknown => document.dispatchEvent(new Event('millrace:left'))
  /** The same one signs in again. */
  const comeBack = (): unknown => document.dispatchEvent(new Event('millrace:back'))
  return { got, done, state, known, host, call, changeOwner, leave, comeBack, hide }
}
