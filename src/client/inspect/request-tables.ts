import type { Journal, RequestRecord } from '../core/data/journal.ts'
import type { FailedAnswer, PageFacts, ObservedRequest } from './page-facts.ts'
import {
  bytes,
  code,
  milliseconds,
  text,
  type InspectorRow,
  type InspectorTable,
  type InspectorTone,
  type WaterfallBar,
} from './inspector-table.ts'

/** One line of the waterfall. Times in milliseconds since the epoch. */
interface Line {
  readonly name: string
  readonly status: string
  readonly tone: InspectorTone | undefined
  readonly purpose: string
  readonly startedAt: number
  readonly endedAt: number | undefined
  /** What the browser has measured; absent before the end. */
  readonly timing?: ObservedRequest | undefined
}

/** The part of the page's facts that the tables use. */
type Measured = Pick<PageFacts, 'startedAt' | 'document' | 'requests'> & Partial<Pick<PageFacts, 'failures'>>

/** Two requests with a longer pause between them, in ms, have no common cause. */
const GROUP_GAP_MS = 1000

/** Maximum difference in ms between the router's and the browser's start of one request. */
const SAME_START_MS = 100

const MOST_FILES = 40 // a development page loads a file for each module

const COLUMNS = ['Page', 'Status', 'Purpose', 'Took', 'Time line', 'Start', 'Size', 'Cache', 'On the server']

/** Milliseconds from the end of an answer until the development server has told of its failure. */
const TOLD_WITHIN_MS = 1000

/** How a request ends that nothing needs any more. Source: `RouteCancelled`. */
const CANCELLED = 'Route cancelled'

/**
 * The document, and the requests for route data and of actions, the newest first.
 * @param measured adds what the browser has measured.
 */
export function requestTable(
  { requests }: Pick<Journal, 'requests'>,
  measured?: Measured,
  now?: number,
): InspectorTable {
  const timings = matchTimings(requests, measured?.requests ?? [])
  const lines = requests.map((record): Line => {
    const { href, startedAt, endedAt } = record
    const timing = timings.get(record)
    const failure = failureOf(record, measured?.failures)
    return {
      name: href,
      status: failure === undefined ? statusOf(record) : `${failure.status}, begun with ${record.status}`,
      tone: failure === undefined ? toneOf(record) : 'bad',
      purpose: timing?.kind === 'action' ? 'action' : record.prefetch ? 'prefetch' : 'needed',
      startedAt,
      endedAt,
      timing,
    }
  })
  const { document } = measured ?? {}
  return {
    id: 'requests',
    title: 'Requests',
    ...(measured && {
      note: 'Bars share a time line while no second passes without a request. The pale part is the wait for the first byte.',
    }),
    columns: COLUMNS,
    rows: rowsOf(document ? [lineOf(document), ...lines] : lines, measured?.startedAt, now),
    empty: 'No data has been requested: the document contained it.',
  }
}

/** Scripts, stylesheets and other files that the page has loaded, the newest first. */
export function fileTable({ requests, startedAt }: Measured, now: number): InspectorTable {
  const files = requests.filter(({ kind }) => kind !== 'data' && kind !== 'action')
  const rest = files.length > MOST_FILES ? ` The last ${MOST_FILES} of ${files.length} are shown.` : ''
  return {
    id: 'files',
    title: 'Files',
    note: `Size counts what was sent; 0 B is the browser’s own copy.${rest}`,
    columns: ['File', ...COLUMNS.slice(1)],
    rows: rowsOf(files.slice(-MOST_FILES).map(lineOf), startedAt, now),
    empty: 'The browser has measured no files.',
  }
}

/**
 * Finds the browser's measurements of requests. It names neither the purpose nor the router's request, so they are
 * matched by URL and start.
 */
export function matchTimings(
  requests: readonly RequestRecord[],
  timings: readonly ObservedRequest[],
): ReadonlyMap<RequestRecord, ObservedRequest> {
  const free = new Set(timings.filter(({ page }) => page !== undefined))
  const found = new Map<RequestRecord, ObservedRequest>()
  for (const record of requests) {
    const distance = (one: ObservedRequest): number => Math.abs(one.startedAt - record.startedAt)
    const [match] = [...free]
      .filter((one) => one.page === record.href && distance(one) <= SAME_START_MS)
      .toSorted((left, right) => distance(left) - distance(right))
    if (match && record.endedAt !== undefined && free.delete(match)) found.set(record, match)
  }
  return found
}

/** The failure of an answer that had begun before, with another status. */
function failureOf(record: RequestRecord, failures: readonly FailedAnswer[] = []): FailedAnswer | undefined {
  const { href, startedAt, endedAt = Infinity, status } = record
  return failures.find(
    (one) => one.page === href && one.status !== status && one.at >= startedAt && one.at <= endedAt + TOLD_WITHIN_MS,
  )
}

function lineOf(timing: ObservedRequest): Line {
  const { url, kind, status, startedAt, durationMs } = timing
  return {
    name: url,
    status: status === 0 ? 'not told' : String(status),
    tone: status === 0 ? undefined : status >= 400 ? 'bad' : 'good',
    purpose: kind,
    startedAt,
    endedAt: startedAt + durationMs,
    timing,
  }
}

/** @param origin start of the document. */
function rowsOf(lines: readonly Line[], origin: number | undefined, now: number | undefined): InspectorRow[] {
  const bars = waterfall(lines, now)
  return lines
    .map((line, index): InspectorRow => {
      const { name, status, tone, purpose, startedAt, endedAt, timing } = line
      const bar = bars[index]
      return {
        key: `${startedAt} ${index}`,
        cells: [
          code(name),
          text(status, tone),
          text(purpose),
          text(endedAt === undefined ? 'in progress' : milliseconds(endedAt - startedAt)),
          { text: '', ...(bar && { bar }) },
          text(origin === undefined ? '' : `${((startedAt - origin) / 1000).toFixed(2)} s`),
          text(timing === undefined ? '' : bytes(timing.bytes)),
          text(timing?.cache ?? '', timing?.cache?.startsWith('bypass') ? 'warn' : undefined),
          text((timing?.server ?? []).map(({ name: part, durationMs }) => `${part} ${durationMs} ms`).join(', ')),
        ],
      }
    })
    .toReversed()
}

/** @returns one bar per line, on the scale of its group. */
function waterfall(lines: readonly Line[], now = 0): readonly WaterfallBar[] {
  const endOf = ({ startedAt, endedAt }: Line): number => endedAt ?? Math.max(now, startedAt)
  const groups: { start: number; end: number; readonly lines: Line[] }[] = []
  for (const line of lines.toSorted((left, right) => left.startedAt - right.startedAt)) {
    const last = groups.at(-1)
    if (last && line.startedAt <= last.end + GROUP_GAP_MS) {
      last.end = Math.max(last.end, endOf(line))
      last.lines.push(line)
    } else groups.push({ start: line.startedAt, end: endOf(line), lines: [line] })
  }
  const bars = new Map<Line, WaterfallBar>()
  for (const { start, end, lines: members } of groups) {
    const span = Math.max(1, end - start)
    for (const line of members) {
      const took = endOf(line) - line.startedAt
      const waiting = Math.min(took, line.timing?.waitingMs ?? took)
      bars.set(line, {
        start: (line.startedAt - start) / span,
        waiting: waiting / span,
        receiving: (took - waiting) / span,
      })
    }
  }
  return lines.flatMap((line) => bars.get(line) ?? [])
}

function toneOf({ status, failed, endedAt }: RequestRecord): InspectorTone {
  if (endedAt === undefined) return 'busy'
  if (failed === CANCELLED) return 'warn'
  return failed !== undefined || status >= 400 ? 'bad' : 'good'
}

function statusOf({ status, failed, endedAt }: RequestRecord): string {
  if (status === 0) return endedAt === undefined ? 'none yet' : (failed ?? 'none')
  return failed === undefined ? String(status) : `${status}, ${failed}`
}
