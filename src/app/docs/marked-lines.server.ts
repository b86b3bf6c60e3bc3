/** What the end of a fence says of lines: `{2,4-6}`, from 1. */
const MARKS = /\{(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)\}$/

const MOST_LINES = 1_000 // of a sample; more is a slip in the fence

/** The numbers of the lines that a fence marks, as the reader counts them: without the line with the name of the file. */
export function markedLines(info: string): ReadonlySet<number> {
  const [, written = ''] = MARKS.exec(info) ?? []
  const ranges = written === '' ? [] : written.split(',').map((range) => range.split('-').map(Number))
  return new Set(
    ranges.flatMap(([first = 1, last = first]) => {
      const length = Math.min(Math.max(0, last - first + 1), MOST_LINES)
      return Array.from({ length }, (_, index) => first + index)
    }),
  )
}

/**
 * Marks lines of highlighted code.
 * @param html text and spans; a span may go over several lines, and then begins again within the mark.
 */
export function withMarks(html: string, lines: ReadonlySet<number>): string {
  if (lines.size === 0) return html
  const open: string[] = []
  return html
    .split('\n')
    .map((line, index) => {
      const above = [...open]
      for (const [tag] of line.matchAll(/<[^>]+>/g)) {
        if (tag.startsWith('</')) open.pop()
        else open.push(tag)
      }
      if (!lines.has(index + 1)) return line
      // Spans from above end in front of the mark, and those that go on begin again behind it.
      return `${ends(above)}<mark>${above.join('')}${line}${ends(open)}</mark>${open.join('')}`
    })
    .join('\n')
}

function ends(tags: readonly string[]): string {
  return '</span>'.repeat(tags.length)
}
