import type { Journal, NavigationRecord, RequestRecord } from '../core/data/journal.ts'
import type { KnownRoutes } from '../core/data/known-routes.ts'
import type { Prefetcher } from '../core/prefetch/prefetcher.ts'

/** Sources of the tables; part of a `RouterInsight`. */
export interface InspectorFacts {
  readonly known: Pick<KnownRoutes, 'cache' | 'stateOf'>
  readonly prefetcher: Pick<Prefetcher, 'state'>
  readonly journal: Pick<Journal, 'requests' | 'navigations'>
}

/** One table of an inspector, as text, so that all inspectors show the same. */
export interface InspectorTable {
  readonly id: 'entries' | 'queue' | 'requests' | 'navigations'
  readonly title: string
  /** Text before the table. */
  readonly note?: string
  readonly columns: readonly string[]
  readonly rows: readonly InspectorRow[]
  /** Shown instead of a table without rows. */
  readonly empty: string
}

/** One row. */
export interface InspectorRow {
  /** Unique in its table. */
  readonly key: string
  /** One per column. */
  readonly cells: readonly InspectorCell[]
}

/** One cell. */
export interface InspectorCell {
  readonly text: string
  /** Set for a path or a key. */
  readonly code?: true
  /** Bars above the text, with a common scale for all rows. */
  readonly phases?: NavigationPhases
}

/** Durations of a navigation's phases, relative to the longest navigation: each from 0 to 1. */
export interface NavigationPhases {
  /** Until data, code and styles had loaded. */
  readonly ready: number
  /** React's time until the new page was on screen. */
  readonly commit: number
}

const MOST_PREFETCHES = 50 // a page may have a thousand links in view

/**
 * A snapshot of the client router's knowledge, requests and navigations: the newest first.
 * @param now milliseconds since the epoch.
 */
export function inspectorTables({ known, prefetcher, journal }: InspectorFacts, now: number): InspectorTable[] {
  return [
    entryTable(known, now),
    prefetchTable(prefetcher, now),
    requestTable(journal.requests),
    navigationTable(journal.navigations),
  ]
}

function entryTable({ cache, stateOf }: InspectorFacts['known'], now: number): InspectorTable {
  return {
    id: 'entries',
    title: 'Route cache',
    columns: ['State', 'Key', 'Age', 'Lifetime', 'Characters', 'Tags'],
    rows: [...cache.entries].toReversed().map(([key, entry]) => ({
      key,
      cells: [
        text(stateOf(entry, now)),
        code(key),
        text(seconds(now - entry.receivedAt)),
        text(seconds(entry.lifetimeMs)),
        text(entry.size.toLocaleString('en')),
        text(entry.tags.length === 0 ? 'none' : entry.tags.join(', ')),
      ],
    })),
    empty: 'Nothing is kept.',
  }
}

/** Running prefetches, targets that are blocked after a failure, and waiting prefetches. */
function prefetchTable({ state }: InspectorFacts['prefetcher'], now: number): InspectorTable {
  const { jobs, active, blocked, pausedUntil } = state
  const running = [...jobs.values()].filter(({ target }) => active.has(target))
  const queued = [...jobs.values()].filter(({ target }) => !active.has(target))
  const resting = [...blocked].filter(([, until]) => until > now)
  const all = [
    ...running,
    ...resting.map(([target, until]) => ({
      target,
      priority: 'none',
      phase: `blocked for ${secondsUntil(until, now)}`,
    })),
    ...queued,
  ]
  const pause = pausedUntil > now ? `Paused for ${secondsUntil(pausedUntil, now)}.` : 'Not paused.'
  const rest = all.length > MOST_PREFETCHES ? ` The first ${MOST_PREFETCHES} are shown.` : ''
  return {
    id: 'queue',
    title: 'Prefetches',
    note: `${running.length} running, ${queued.length} queued, ${resting.length} blocked. ${pause}${rest}`,
    columns: ['Target', 'Priority', 'Phase'],
    rows: all.slice(0, MOST_PREFETCHES).map(({ target, priority, phase }) => ({
      key: `${target} ${priority}`,
      cells: [code(target), text(priority), text(phase)],
    })),
    empty: 'Nothing is being fetched ahead.',
  }
}

function requestTable(requests: readonly RequestRecord[]): InspectorTable {
  return {
    id: 'requests',
    title: 'Requests',
    columns: ['Page', 'Status', 'Purpose', 'Took'],
    rows: requests.toReversed().map((request, index) => ({
      key: String(index), // records have no name
      cells: [
        code(request.href),
        text(statusOf(request)),
        text(request.prefetch ? 'prefetch' : 'needed'),
        text(request.endedAt === undefined ? 'under way' : `${request.endedAt - request.startedAt} ms`),
      ],
    })),
    empty: 'No data has been requested: the document contained it.',
  }
}

function statusOf({ status, failed, endedAt }: RequestRecord): string {
  if (status === 0) return endedAt === undefined ? 'none yet' : (failed ?? 'none')
  return failed === undefined ? String(status) : `${status}, ${failed}`
}

function navigationTable(navigations: readonly NavigationRecord[]): InspectorTable {
  const longest = Math.max(1, ...navigations.map((one) => durationsOf(one).total))
  return {
    id: 'navigations',
    title: 'Navigations',
    note: 'The first bar is the time until data, code and styles had loaded; the second is React’s, until the new page was on screen.',
    columns: ['From', 'To', 'Kind', 'End', 'Time line'],
    rows: navigations.toReversed().map((navigation) => {
      const { ready, commit } = durationsOf(navigation)
      const phases = { ready: ready / longest, commit: commit / longest }
      return {
        key: String(navigation.id),
        cells: [
          code(navigation.from),
          code(navigation.to),
          text(navigation.kind),
          text(navigation.end ?? 'under way'),
          { text: describePhases(navigation), phases },
        ],
      }
    }),
    empty: 'This page was loaded as a document, and no navigation has started since.',
  }
}

/** Milliseconds of a navigation's phases; one that never became ready has waited all the time. */
function durationsOf({ startedAt, readyAt, endedAt }: NavigationRecord) {
  const ready = (readyAt ?? endedAt ?? startedAt) - startedAt
  const commit = readyAt === undefined || endedAt === undefined ? 0 : endedAt - readyAt
  return { ready, commit, total: ready + commit }
}

function describePhases(navigation: NavigationRecord): string {
  const { readyAt, endedAt, end = 'end' } = navigation
  const { ready, commit } = durationsOf(navigation)
  if (readyAt === undefined) return endedAt === undefined ? 'under way' : `${end} after ${ready} ms`
  return endedAt === undefined ? `ready ${ready} ms` : `ready ${ready} ms, ${end} +${commit} ms`
}

function text(content: string): InspectorCell {
  return { text: content }
}

function code(content: string): InspectorCell {
  return { text: content, code: true }
}

function seconds(milliseconds: number): string {
  return `${Math.max(0, Math.floor(milliseconds / 1000))} s`
}

function secondsUntil(time: number, now: number): string {
  return `${Math.ceil((time - now) / 1000)} s`
}
