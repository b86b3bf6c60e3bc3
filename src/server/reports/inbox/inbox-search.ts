/**
 * Finds groups by what their events say, with a bounded scan: of an id the newest 900 events and the oldest 100, by
 * index; filters and words are compared with the newest 10,000 events. With short words a search takes less than 10 ms,
 * and at most about 30 ms where somebody has filled the inbox for it.
 */
import type { Database } from '../../stores/open-database.ts'
import type { ReportFilter } from '../../api/report-inbox.ts'

const MOST_SEARCHED = 10_000 // events
const NEWEST_OF_AN_ID = 900 // events: a trace can have thousands
const OLDEST_OF_AN_ID = 100 // a stranger can send reports with an id only after he has seen it
const MOST_WORDS = 4 // each is compared with each event
const LONGEST_TEXT = 200 // characters
const ID = /^(?:[0-9a-f]{12}|[0-9a-f]{32})$/

/** One found group. */
export interface FoundGroup {
  readonly group: string
  /** Its newest event that fits. */
  readonly item: number
}

/** The found groups of one page. */
export interface FoundPage {
  /** The one with the newest event that fits first. */
  readonly found: readonly FoundGroup[]
  /** Of all pages. */
  readonly total: number
}

/** Which page. */
export interface PageRange {
  readonly most: number
  readonly offset: number
}

const FITS = `group_id IS NOT NULL AND (:side IS NULL OR side = :side) AND (:level IS NULL OR level = :level)
  AND (:release IS NULL OR release = :release)`
/** Behind the last page comes the last page. */
const pageOf = (hits: string): string => `
WITH ${hits}, found AS MATERIALIZED (SELECT group_id, max(id) AS item FROM hits GROUP BY group_id),
  size AS MATERIALIZED (SELECT count(*) AS total FROM found)
SELECT group_id, item, total FROM found, size ORDER BY item DESC
LIMIT :most OFFSET (SELECT max(0, min(:offset, (total - 1) / :most * :most)) FROM size)`

const endOf = (column: string, order: 'ASC' | 'DESC', most: number): string =>
  `SELECT * FROM (SELECT * FROM inbox_items WHERE ${column} = :id ORDER BY id ${order} LIMIT ${most})`
const byIndex = (column: string): string =>
  `${endOf(column, 'DESC', NEWEST_OF_AN_ID)} UNION ALL ${endOf(column, 'ASC', OLDEST_OF_AN_ID)}`
const BY_ID = pageOf(`hits AS (
  SELECT id, group_id FROM (${['digest', 'event_id', 'trace'].map(byIndex).join(' UNION ALL ')}) WHERE ${FITS}
)`)

const WORDS = Array.from({ length: MOST_WORDS }, (_, at) => `:word${at}`)
/** A missing word is the empty one, which everything contains. */
const BY_WORDS = pageOf(`said AS MATERIALIZED (
  SELECT id, group_id, digest, lower(title || ' ' || coalesce(route, '')) AS words FROM inbox_items NOT INDEXED
  WHERE id > (SELECT max(id) - ${MOST_SEARCHED} FROM inbox_items) AND ${FITS}
), hits AS (
  SELECT id, group_id FROM said
  WHERE digest = :text OR (${WORDS.map((word) => `instr(words, ${word}) > 0`).join(' AND ')})
)`)

/** Whether a filter asks for anything. */
export function isFilter({ side, level, release, text = '' }: ReportFilter): boolean {
  return [side, level, release].some((value) => value !== undefined) || text.trim() !== ''
}

/** Finds one page of groups that have an event which fits. */
export function searchGroups(database: Database, filter: ReportFilter, range: PageRange): FoundPage {
  const { side = null, level = null, release = null } = filter
  const text = (filter.text ?? '').trim().slice(0, LONGEST_TEXT)
  const id = text.toLowerCase().replaceAll('-', '')
  const common = { side, level, release, most: range.most, offset: range.offset }
  if (ID.test(id)) {
    const byId = toPage(database.statement(BY_ID).all({ ...common, id }))
    if (byId.total > 0) return byId
  }
  // `lower` of SQLite knows ASCII only.
  const words = text.replaceAll(/[A-Z]+/g, (upper) => upper.toLowerCase()).split(/\s+/)
  const parameters = Object.fromEntries(WORDS.map((_, at) => [`word${at}`, words[at] ?? '']))
  return toPage(database.statement(BY_WORDS).all({ ...common, text, ...parameters }))
}

function toPage(rows: readonly Readonly<Record<string, unknown>>[]): FoundPage {
  return {
    found: rows.map((row) => ({ group: String(row['group_id']), item: Number(row['item']) })),
    total: Number(rows[0]?.['total'] ?? 0),
  }
}
