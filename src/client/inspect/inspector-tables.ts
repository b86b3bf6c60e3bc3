import type { Journal, NavigationRecord } from '../core/data/journal.ts'
import type { KnownRoutes } from '../core/data/known-routes.ts'
import type { EntryState } from '../core/data/route-cache.ts'
import type { Prefetcher } from '../core/prefetch/prefetcher.ts'
import {
  code,
  count,
  seconds,
  secondsUntil,
  text,
  type InspectorCell,
  type InspectorTable,
  type InspectorTone,
} from './inspector-table.ts'
import { requestTable } from './request-tables.ts'

/** Sources of the tables; part of a `RouterInsight`. */
export interface InspectorFacts {
  /** @internal */
  readonly known: Pick<KnownRoutes, 'cache' | 'stateOf'>
  /** @internal */
  readonly prefetcher: Pick<Prefetcher, 'state'>
  /** @internal */
  readonly journal: Pick<Journal, 'requests' | 'navigations'>
}

/** What each state of an entry means for the next page that needs it. */
const STATE_TONE: Readonly<Record<EntryState, InspectorTone>> = {
  fresh: 'good',
  reusable: 'good',
  stale: 'warn',
  expired: 'bad',
}

const MOST_PREFETCHES = 50 // a page may have a thousand links in view

/**
 * A snapshot of the client router's knowledge, requests and navigations: the newest first.
 * @param now milliseconds since the epoch.
 */
export function inspectorTables({ known, prefetcher, journal }: InspectorFacts, now: number): InspectorTable[] {
  return [
    entryTable(known, now),
    prefetchTable({ prefetcher, journal }, now),
    requestTable(journal),
    navigationTable(journal.navigations),
  ]
}

/** The entries of the route cache. */
export function entryTable({ cache, stateOf }: InspectorFacts['known'], now: number): InspectorTable {
  return {
    id: 'entries',
    title: 'Route cache',
    columns: ['State', 'Key', 'Age', 'Lifetime', 'Characters', 'Tags'],
    rows: [...cache.entries].toReversed().map(([key, entry]) => {
      const state = stateOf(entry, now)
      return {
        key,
        path: entry.path,
        cells: [
          stateCell(state),
          code(key),
          text(seconds(now - entry.receivedAt)),
          text(seconds(entry.lifetimeMs)),
          text(count(entry.size)),
          text(entry.tags.length === 0 ? 'none' : entry.tags.join(', ')),
        ],
      }
    }),
    empty: 'Nothing is kept.',
  }
}

/** The state of an entry, in the color of its meaning. */
export function stateCell(state: EntryState): InspectorCell {
  return text(state, STATE_TONE[state])
}

/** Running prefetches, targets that are blocked after a failure, and waiting prefetches. */
export function prefetchTable(
  { prefetcher: { state }, journal }: Pick<InspectorFacts, 'prefetcher' | 'journal'>,
  now: number,
): InspectorTable {
  const { jobs, active, blocked, pausedUntil } = state
  const running = [...jobs.values()].filter(({ target }) => active.has(target))
  const queued = [...jobs.values()].filter(({ target }) => !active.has(target))
  const resting = [...blocked].filter(([, until]) => until > now)
  const all = [
    ...running.map((job) => ({ ...job, tone: 'busy' as const, why: '' })),
    ...resting.map(([target, until]) => ({
      target,
      priority: 'none',
      phase: `blocked for ${secondsUntil(until, now)}`,
      tone: 'bad' as const,
      why: whyBlocked(journal, target),
    })),
    ...queued.map((job) => ({ ...job, tone: undefined, why: pausedUntil > now ? 'paused' : '' })),
  ]
  const pause =
    pausedUntil > now
      ? `Paused for ${secondsUntil(pausedUntil, now)}. The server has asked for it by Retry-After.`
      : 'Not paused.'
  const rest = all.length > MOST_PREFETCHES ? ` The first ${MOST_PREFETCHES} are shown.` : ''
  return {
    id: 'queue',
    title: 'Prefetches',
    note: `${running.length} running, ${queued.length} queued, ${resting.length} blocked. ${pause}${rest}`,
    columns: ['Target', 'Priority', 'Phase', 'Why'],
    rows: all.slice(0, MOST_PREFETCHES).map(({ target, priority, phase, tone, why }) => ({
      key: `${target} ${priority}`,
      cells: [code(target), text(priority), text(phase, tone), text(why)],
    })),
    empty: 'Nothing is being fetched ahead.',
  }
}

/** The last failed prefetch of a target. Without one, the target has redirected or was refused inside its answer. */
function whyBlocked({ requests }: InspectorFacts['journal'], target: string): string {
  const last = requests.findLast(({ href, prefetch }) => prefetch && href === target)
  if (last?.failed !== undefined) return last.failed
  if (last !== undefined && last.status >= 400) return `answered with ${last.status}`
  return 'a redirect or a fallback, which is not cached'
}

/** The last navigations, each with its phases on a common scale. */
export function navigationTable(navigations: readonly NavigationRecord[]): InspectorTable {
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
          text(navigation.end ?? 'in progress', END_TONE[navigation.end ?? 'none']),
          { text: describePhases(navigation), phases },
        ],
      }
    }),
    empty: 'This page was loaded as a document, and no navigation has started since.',
  }
}

const END_TONE: Readonly<Record<NonNullable<NavigationRecord['end']> | 'none', InspectorTone>> = {
  commit: 'good',
  leave: 'warn',
  cancel: 'warn',
  fail: 'bad',
  none: 'busy',
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
  if (readyAt === undefined) return endedAt === undefined ? 'in progress' : `${end} after ${ready} ms`
  return endedAt === undefined ? `ready ${ready} ms` : `ready ${ready} ms, ${end} +${commit} ms`
}
