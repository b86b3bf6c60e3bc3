import type { Journal } from '../core/data/journal.ts'
import { bytes, code, count, milliseconds, text, type InspectorRow, type InspectorTable } from './inspector-table.ts'
import type { ObservedCall, ObservedRequest, PageFacts } from './page-facts.ts'

const MAX_ATTEMPT_GAP_MS = 35_000 // an attempt waits for 30 s at most before it is repeated

/** One call of an action with the requests that it took. */
interface CallLine {
  readonly id: string
  readonly startedAt: number
  readonly endedAt: number | undefined
  readonly failed: string | undefined
  readonly attempts: readonly ObservedRequest[]
}

/** The last calls of actions, the newest first. */
export function actionTable({ calls, requests, actionNames }: PageFacts, now: number): InspectorTable {
  const lines = callLines(calls, requests)
  return {
    id: 'actions',
    title: 'Actions',
    columns: ['Action', 'Page', 'State', 'Took', 'Attempts', 'Outcome'],
    rows: lines.toReversed().map((line, index): InspectorRow => {
      const { id, startedAt, endedAt, attempts } = line
      const last = attempts.at(-1)
      const [outcome, tone] = outcomeOf(line)
      return {
        key: `${startedAt} ${index}`,
        cells: [
          code(actionNames[id] ?? id),
          code(last?.page ?? ''),
          endedAt === undefined ? text('in flight', 'busy') : text('answered'),
          text(milliseconds((endedAt ?? now) - startedAt)),
          text(attempts.length === 0 && endedAt === undefined ? '' : String(attempts.length)),
          text(outcome, tone),
        ],
      }
    }),
    empty: 'No action has been called since this document was loaded.',
  }
}

/** What a call has ended with, by the status of its last answer. */
function outcomeOf({ endedAt, failed, attempts }: CallLine): [string, 'good' | 'warn' | 'bad' | undefined] {
  if (endedAt === undefined) return ['', undefined]
  const status = attempts.at(-1)?.status ?? 0
  if (status === 422 || status === 400) return [`${status}, input refused`, 'warn']
  if (failed !== undefined) return [status === 0 ? failed : `${status}, ${failed}`, 'bad']
  if (status >= 400) return [`${status}, refused`, 'bad']
  return [status === 0 ? 'done' : `${status}, done`, 'good']
}

/** Watched calls with their attempts, and calls of which only the requests are known. */
function callLines(calls: readonly ObservedCall[], requests: readonly ObservedRequest[]): readonly CallLine[] {
  const free = requests.filter(({ kind }) => kind === 'action')
  const take = (isPart: (request: ObservedRequest) => boolean): ObservedRequest[] =>
    free.filter(isPart).map((request) => free.splice(free.indexOf(request), 1)[0] ?? request)
  const watched = calls.map(({ id, startedAt, endedAt, failed }): CallLine => {
    const isPart = (one: ObservedRequest): boolean =>
      one.action === id && one.startedAt >= startedAt - 1 && one.startedAt <= (endedAt ?? Infinity)
    return { id, startedAt, endedAt, failed, attempts: take(isPart) }
  })
  const others: CallLine[] = []
  for (const request of free) {
    const { action: id = '', startedAt, durationMs } = request
    const former = others.at(-1)
    const last = former?.attempts.at(-1)
    const isRetry =
      former?.id === id &&
      last !== undefined &&
      (last.status === 0 || last.status === 429 || last.status >= 500) &&
      startedAt - (last.startedAt + last.durationMs) < MAX_ATTEMPT_GAP_MS
    const endedAt = startedAt + durationMs
    if (isRetry) others[others.length - 1] = { ...former, endedAt, attempts: [...former.attempts, request] }
    else others.push({ id, startedAt, endedAt, failed: undefined, attempts: [request] })
  }
  return [...watched, ...others].toSorted((left, right) => left.startedAt - right.startedAt)
}

/** Size of the hydration data by segment, the largest first. */
export function hydrationTable({ content }: Pick<PageFacts, 'content'>): InspectorTable {
  const { segments = [], hydrationSize = 0, lateValues = 0 } = content ?? {}
  const rows = segments.toSorted(([, left], [, right]) => right - left)
  const share = (size: number): string => `${Math.round((100 * size) / Math.max(1, hydrationSize))} %`
  return {
    id: 'hydration',
    title: 'Hydration data',
    note: `${count(hydrationSize)} characters in the document${lateValues > 0 ? ', with the values that streamed in' : ''}.`,
    columns: ['Segment', 'Characters', 'Share'],
    rows: rows.map(([id, size]) => ({ key: id, cells: [code(id), text(count(size)), text(share(size))] })),
    empty:
      lateValues > 0 ? 'The values streamed in as one, and have no sizes by segment.' : 'No segment has data in it.',
  }
}

/** How the document was made and sent. */
export function documentTable({ document, content }: Pick<PageFacts, 'document' | 'content'>): InspectorTable {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['URL', document?.url],
    ['Rendered', content && (content.streamed ? 'streamed: the shell first' : 'whole: at once')],
    ['HTML', content && content.bytes > 0 ? bytes(content.bytes) : undefined],
    ['Sent', document && document.bytes > 0 ? bytes(document.bytes) : undefined],
    ['First byte after', document?.waitingMs === undefined ? undefined : milliseconds(document.waitingMs)],
    ['Last byte after', document && milliseconds(document.durationMs)],
    ['Parts after the shell', content?.streamed ? String(content.lateParts) : undefined],
    ['Values after the shell', content?.streamed ? String(content.lateValues) : undefined],
    ...(document?.server ?? []).map(({ name, durationMs }) => [`Server: ${name}`, `${durationMs} ms`] as const),
  ]
  return {
    id: 'document',
    title: 'Document',
    columns: ['Fact', 'Value'],
    rows: facts.flatMap(([name, value]) =>
      value === undefined ? [] : { key: name, cells: [text(name), text(value)] },
    ),
    empty: 'The browser does not tell how it has loaded this document.',
  }
}

/** Work of React whose result nobody has seen. */
export function renderTable(
  { document, recovered }: Pick<PageFacts, 'document' | 'recovered'>,
  { navigations }: Pick<Journal, 'navigations'>,
): InspectorTable {
  const discarded = document?.server.find(({ name }) => name === 'discarded')
  const superseded = navigations.filter(({ end, readyAt }) => end === 'cancel' && readyAt !== undefined)
  const rows: readonly (readonly [string, string, string])[] = [
    ...superseded.toReversed().map(({ to, readyAt = 0, endedAt = 0 }) => {
      return ['browser', to, `another navigation began after ${endedAt - readyAt} ms of rendering`] as const
    }),
    ...recovered.toReversed().map((message) => ['browser', 'hydration', message] as const),
    ...(discarded && document
      ? [['server', document.url, `rendered whole for ${discarded.durationMs} ms, then again as a stream`] as const]
      : []),
  ]
  return {
    id: 'renders',
    title: 'Renders thrown away',
    columns: ['Where', 'What', 'Why'],
    rows: rows.map(([where, what, why], index) => ({
      key: String(rows.length - index),
      cells: [text(where), code(what), text(why, 'warn')],
    })),
    empty: 'None that is known.',
  }
}
