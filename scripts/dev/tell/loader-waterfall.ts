/** How long one loader of a request has run. */
export interface LoaderRun {
  /** Segment id: `/mills/[id]#page`. */
  readonly segment: string
  /** Milliseconds since the start of the request. */
  readonly start: number
  /** Milliseconds since the start of the request. */
  readonly end: number
  /**
   * Of the page's own loader. With `shell: 'early'`, `nobody` waits in a document; a `click` does. `document`: one that waits,
   * and could be early. Absent: the page waits.
   */
  readonly waits?: 'nobody' | 'click' | 'document'
}

const WIDTH = 40 // characters of the whole request
const LONGEST_NAME = 40

/**
 * Draws loaders as bars on one time axis, in the order of their start:
 *
 * ```text
 * /#layout          |████████            |   210 ms
 * /mills/[id]#page  |████████████████████|   612 ms
 * ```
 */
export function drawWaterfall(runs: readonly LoaderRun[]): string {
  const sorted = runs.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const total = Math.max(...sorted.map(({ end }) => end), 1)
  const names = sorted.map(({ segment }) =>
    segment.length > LONGEST_NAME ? `…${segment.slice(1 - LONGEST_NAME)}` : segment,
  )
  const width = Math.max(...names.map((name) => name.length))
  return sorted
    .map(({ start, end }, index) => {
      const before = Math.min(Math.round((start / total) * WIDTH), WIDTH - 1)
      const length = Math.max(1, Math.min(Math.round(((end - start) / total) * WIDTH), WIDTH - before))
      const bar = ' '.repeat(before) + '█'.repeat(length)
      return `${(names[index] ?? '').padEnd(width)} |${bar.padEnd(WIDTH)}| ${String(Math.round(end - start)).padStart(6)} ms`
    })
    .join('\n')
}

/** The slowest loader for which somebody waits. */
export function slowestLoader(runs: readonly LoaderRun[]): LoaderRun | undefined {
  return runs.filter(({ waits }) => waits !== 'nobody').toSorted((a, b) => b.end - b.start - (a.end - a.start))[0]
}

/** The rule and the way out for the slowest loader. */
export function describeSlowLoaders(runs: readonly LoaderRun[]): string {
  const slowest = slowestLoader(runs)
  if (slowest === undefined) return ''
  const { segment, start, end, waits } = slowest
  const together = runs.length > 1 ? ' All loaders of a page start together, so the page waits for the slowest.' : ''
  const others = waits === 'document' ? ", or send the layouts first with shell: 'early'" : ''
  return (
    `The loader of ${segment} took ${Math.round(end - start)} ms, and ${waits === 'click' ? 'a click' : 'the page'} waits for it.${together} ` +
    `Start what it reads in parallel, cache it with context.cached, or return the slow part as a promise, which streams in later${others}.`
  )
}
