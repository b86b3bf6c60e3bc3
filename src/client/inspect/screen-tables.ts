import type { RequestRecord } from '../core/data/journal.ts'
import type { CacheEntry } from '../core/data/route-cache.ts'
import type { RouteRequest } from '../core/data/route-request.ts'
import type { ModuleLoader } from '../../shared/route-definition.ts'
import type { DroppedEntry, PageFacts } from './page-facts.ts'
import type { RouterInsight } from './router-insight.ts'
import {
  code,
  count,
  seconds,
  text,
  type InspectorCell,
  type InspectorRow,
  type InspectorTable,
} from './inspector-table.ts'
import { stateCell } from './inspector-tables.ts'
import { matchTimings } from './request-tables.ts'

/** Sources of the tables about the screen. */
type ScreenFacts = Pick<RouterInsight, 'router' | 'known' | 'journal'> & {
  readonly store: Pick<RouterInsight['store'], 'requests'>
}

type BoundaryName = 'error' | 'notFound' | 'forbidden' | 'unauthorized'

const BOUNDARIES: readonly BoundaryName[] = ['error', 'notFound', 'forbidden', 'unauthorized']

/** Layouts and page on the screen, outermost first, and what has brought their data. */
export function screenTable(facts: ScreenFacts, page: Pick<PageFacts, 'requests'>, now: number): InspectorTable {
  const { router, known } = facts
  const { href, view, fallback } = router.screen
  const { chain, params } = view
  const outcome = fallback ?? view.outcome
  const shown = outcome === undefined ? chain : chain.slice(0, outcome.at + 1)
  const rows: InspectorRow[] = []
  for (const [index, { key, definition }] of shown.entries()) {
    const isLeaf = index === shown.length - 1
    const catches = BOUNDARIES.filter((kind) => definition[kind] !== undefined).join(', ') || 'nothing'
    const row = (part: Part, loader: ModuleLoader | undefined, catching: string): void => {
      const id = `${key}#${part.kind}`
      const entry = loader && known.cache.entries.get(known.keyOf(id, href.replace(/#.*/s, ''), params))
      const data = entry ? dataCells(facts, page, { id, entry }, now) : withoutEntry(loader, id in view.data)
      rows.push({ key: id, cells: [code(key), part.cell, code(sourceOf(part.module)), ...data, text(catching)] })
    }
    if (definition.layout || definition.layoutLoader) {
      row({ kind: 'layout', cell: text('layout'), module: definition.layout }, definition.layoutLoader, catches)
    }
    if (!isLeaf) continue
    if (outcome === undefined) row({ kind: 'page', cell: text('page'), module: definition.page }, definition.loader, '')
    else {
      const cell = text(`fallback ${outcome.kind}${outcome.digest ? ` (${outcome.digest})` : ''}`, 'bad')
      row({ kind: 'page', cell, module: definition[outcome.kind] }, undefined, '')
    }
  }
  return {
    id: 'screen',
    title: 'On the screen',
    note: describeScreen(facts),
    columns: ['Entry', 'Shows', 'File', 'Brought by', 'Age', 'State', 'Characters', 'Catches'],
    rows,
    empty: 'No entry of the route table answers this URL, and the table has no root layout.',
  }
}

/** A module of an entry that is on the screen. */
interface Part {
  readonly kind: 'layout' | 'page'
  readonly cell: InspectorCell
  readonly module: ModuleLoader | undefined
}

function describeScreen({ router }: ScreenFacts): string {
  const { view, href } = router.screen
  const names = Object.entries(view.params).map(([name, value]) => `${name}=${[value].flat().join('/')}`)
  const { navigation } = router
  const target = 'target' in navigation ? ` ${navigation.state} ${navigation.target.href}.` : ''
  return `${href}. ${names.length === 0 ? 'No params.' : `Params: ${names.join(', ')}.`} Navigation:${target || ' idle.'}`
}

function dataCells(
  facts: ScreenFacts,
  page: Pick<PageFacts, 'requests'>,
  { id, entry }: { readonly id: string; readonly entry: CacheEntry },
  now: number,
): InspectorCell[] {
  return [
    text(broughtBy(facts, page, id, entry)),
    text(seconds(now - entry.receivedAt)),
    stateCell(facts.known.stateOf(entry, now)),
    text(count(entry.size)),
  ]
}

function withoutEntry(loader: ModuleLoader | undefined, hasData: boolean): InspectorCell[] {
  // Data that may not be kept is on the screen all the same.
  const why = loader === undefined ? 'no loader' : hasData ? 'not kept' : 'no data'
  return [text(why, loader === undefined || hasData ? undefined : 'warn'), text(''), text(''), text('')]
}

/** What has brought the data of a segment. */
export function broughtBy(
  { journal }: Pick<ScreenFacts, 'journal'>,
  { requests }: Pick<PageFacts, 'requests'>,
  id: string,
  entry: Pick<CacheEntry, 'content' | 'receivedAt' | 'path'>,
): string {
  // Only data of the document has none.
  if (entry.content === undefined) return 'document'
  const { receivedAt, path } = entry
  const request = journal.requests.findLast(
    ({ href, wants, startedAt, endedAt = Infinity }) =>
      startedAt <= receivedAt && receivedAt <= endedAt && (wants?.includes(id) ?? true) && isBelow(href, path),
  )
  return request === undefined ? 'an earlier request' : purposeOf(request, journal, requests)
}

function purposeOf(
  request: RequestRecord,
  { requests, navigations }: ScreenFacts['journal'],
  timings: PageFacts['requests'],
): string {
  if (matchTimings(requests, timings).get(request)?.kind === 'action') return 'action'
  if (request.prefetch) return 'prefetch'
  const cause = navigations.findLast(
    ({ startedAt, readyAt, endedAt }) =>
      startedAt <= request.startedAt && request.startedAt <= (readyAt ?? endedAt ?? Infinity),
  )
  if (cause === undefined) return 'refetch'
  return cause.kind === 'refresh' ? 'refresh' : 'navigation'
}

function isBelow(href: string, path: string): boolean {
  const [pathname = ''] = href.split('?', 1)
  return pathname === path || path === '/' || pathname.startsWith(`${path}/`)
}

/** The file of a module: a source in development, a chunk in production. */
function sourceOf(loader: ModuleLoader | undefined): string {
  const [, file = ''] = /import\(\s*["'`]([^"'`]+)["'`]/.exec(String(loader ?? '')) ?? []
  return decodeURI(
    file
      .replace(/\?.*/s, '')
      .replace(/^.*\/_m\/(?:assets|dev)\//, '')
      .replace(/^\.\//, ''),
  )
}

/** Data that is being fetched and is not in the cache, by the request that brings it. */
export function incomingTable({ store, known }: Pick<ScreenFacts, 'store' | 'known'>, now: number): InspectorTable {
  const waits = (request: RouteRequest): readonly string[] =>
    request.ids.filter((id) => !request.segments.has(id)).map((id) => known.keyOf(id, request.href, request.params))
  const rows = [...store.requests].flatMap((request, index) =>
    waits(request).map((key): InspectorRow => ({
      key: `${index} ${key}`,
      cells: [
        text(request.current ? 'in flight' : 'in flight, dropped', request.current ? 'busy' : 'warn'),
        code(key),
        text(seconds(now - request.startedAt)),
        text(request.prefetch ? 'prefetch' : 'needed'),
      ],
    })),
  )
  return {
    id: 'incoming',
    title: 'In flight',
    columns: ['State', 'Key', 'Since', 'Purpose'],
    rows,
    empty: 'No data is being fetched.',
  }
}

/** Entries that have left the cache, the newest first. */
export function droppedTable(dropped: readonly DroppedEntry[], now: number): InspectorTable {
  return {
    id: 'dropped',
    title: 'Dropped',
    columns: ['Why', 'Key', 'Ago'],
    rows: dropped.toReversed().map(({ key, at, why }, index) => ({
      key: `${dropped.length - index} ${key}`,
      cells: [text(why, why === 'dropped' ? 'warn' : undefined), code(key), text(seconds(now - at))],
    })),
    empty: 'No entry has left the cache since the inspector began to watch.',
  }
}
