/** Sides of a failure, as the filter and the badges name them. */
export const SIDES = ['server', 'browser', 'elsewhere'] as const

/** Levels of an event that can be chosen. */
export const LEVELS = ['fatal', 'error', 'warning', 'info'] as const

/** What the list of failures is filtered by; `''` for everything. The names are those of the fields and search params. */
export interface ChosenFilter {
  /** A digest, an id, or words. */
  readonly q: string
  readonly side: '' | (typeof SIDES)[number]
  readonly level: '' | (typeof LEVELS)[number]
  readonly release: string
}

/** Fields that are left out of the URL. */
export const NO_FILTER: ChosenFilter = { q: '', side: '', level: '', release: '' }

/** The list with other filters, on its first page. */
export function filterQuery(filter: Partial<ChosenFilter>, page = 1): Record<string, string> {
  const chosen = Object.entries(filter).filter(([, value]) => value !== '')
  return Object.fromEntries([...chosen, ...(page > 1 ? [['page', String(page)]] : [])]) as Record<string, string>
}
