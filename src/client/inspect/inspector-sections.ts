import { entryTable, navigationTable, prefetchTable } from './inspector-tables.ts'
import type { InspectorTable } from './inspector-table.ts'
import { actionTable, documentTable, hydrationTable, renderTable } from './page-tables.ts'
import type { PageFacts } from './page-facts.ts'
import { fileTable, requestTable } from './request-tables.ts'
import type { RouterInsight } from './router-insight.ts'
import { droppedTable, incomingTable, screenTable } from './screen-tables.ts'

/** One subject of an inspector. */
export interface InspectorSection {
  readonly id: 'screen' | 'cache' | 'requests' | 'actions' | 'prefetch' | 'page'
  readonly title: string
  readonly tables: readonly InspectorTable[]
}

/** Sources of the sections; a `RouterInsight` has them. */
type SectionFacts = Pick<RouterInsight, 'router' | 'known' | 'prefetcher' | 'journal'> & {
  readonly store: Pick<RouterInsight['store'], 'requests'>
}

/** The titles, in the order of the sections. */
const SECTION_TITLES: Readonly<Record<InspectorSection['id'], string>> = {
  screen: 'Screen',
  cache: 'Cache',
  requests: 'Requests',
  actions: 'Actions',
  prefetch: 'Prefetch',
  page: 'Page',
}

/**
 * A snapshot of everything that an inspector shows.
 * @param page from `observePage`.
 */
export function inspectorSections(insight: SectionFacts, page: PageFacts): readonly InspectorSection[] {
  const { known, journal } = insight
  const { now } = page
  const tables: Readonly<Record<InspectorSection['id'], () => readonly InspectorTable[]>> = {
    screen: () => [screenTable(insight, page, now), navigationTable(journal.navigations)],
    cache: () => [entryTable(known, now), incomingTable(insight, now), droppedTable(page.dropped, now)],
    requests: () => [requestTable(journal, page, now), fileTable(page, now)],
    actions: () => [actionTable(page, now)],
    prefetch: () => [prefetchTable(insight, now)],
    page: () => [documentTable(page), hydrationTable(page), renderTable(page, journal)],
  }
  return (Object.keys(SECTION_TITLES) as InspectorSection['id'][]).map((id) => ({
    id,
    title: SECTION_TITLES[id],
    tables: tables[id](),
  }))
}
