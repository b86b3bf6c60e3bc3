/** A page that is measured, and how its answer is known to be right. */
export interface Workload {
  readonly name: WorkloadName
  readonly path: string
  /**
   * Least throughput, as a share of the bare server's. A tenth is what routing, headers, a log line and the hydration data of
   * data may cost; a page with nothing to wait for must win by being rendered without a stream.
   */
  readonly leastRatio: number
  /**
   * Looks at the HTML of `<main>`.
   * @returns what is wrong, or `undefined`.
   */
  readonly fault: (main: string) => string | undefined
}

/** The pages of `/lab/bench`. */
export type WorkloadName = 'hello' | 'spiral' | 'table' | 'links'

const ROWS = 1000
const LEAST_TILES = 2300 // "about 2,400"
const MOST_TILES = 2500
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g

/** All workloads, cheapest first. */
export const WORKLOADS: readonly Workload[] = [
  {
    name: 'hello',
    path: '/lab/bench/hello',
    leastRatio: 0.9,
    fault: (main) => (/<h1[^>]*>Hello<\/h1>/.test(main) ? undefined : 'no <h1>Hello</h1>'),
  },
  {
    name: 'spiral',
    path: '/lab/bench/spiral',
    leastRatio: 1.2,
    fault(main) {
      const tiles = count(main, /class="tile"/g)
      return tiles >= LEAST_TILES && tiles <= MOST_TILES ? undefined : `${tiles} tiles`
    },
  },
  { name: 'table', path: `/lab/bench/table?n=${ROWS}`, leastRatio: 0.9, fault: (main) => rowFault(main, 0) },
  { name: 'links', path: `/lab/bench/links?n=${ROWS}`, leastRatio: 0.9, fault: (main) => rowFault(main, ROWS) },
]

function rowFault(main: string, links: number): string | undefined {
  const rows = count(main, /<tr\b/g)
  if (rows !== ROWS) return `${rows} rows`
  const different = new Set(textOf(main).match(UUID))
  if (different.size !== 2 * ROWS) return `${different.size} different UUIDs`
  const anchors = count(main, /<a\b[^>]*\bhref="\//g)
  return anchors === links ? undefined : `${anchors} links`
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function textOf(html: string): string {
  return html.replace(/<!--.*?-->/gs, '').replace(/<[^>]*>/g, ' ')
}

/** The inside of a document's `<main>`, or nothing. */
export function mainOf(html: string): string {
  return /<main\b[^>]*>(.*)<\/main>/s.exec(html)?.[1] ?? ''
}

/**
 * What two right answers have in common: elements and text, without what is drawn anew for each request and without
 * the marks that only a client router reads.
 */
export function comparable(main: string): string {
  return main
    .replace(/<!--.*?-->/gs, '')
    .replace(/ data-[\w-]+="[^"]*"/g, '')
    .replace(UUID, '<uuid>')
}
