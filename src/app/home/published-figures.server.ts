import { readFile } from 'node:fs/promises'

/** One bar of a chart. */
export interface Bar {
  readonly label: string
  /** The length of the bar, above 0. */
  readonly amount: number
  /** The amount in words. */
  readonly text: string
}

/** A measured figure, as the home page shows it. */
export interface Figure {
  readonly title: string
  /** The figure itself. */
  readonly value: string
  /** What the figure is compared with. */
  readonly beside: string
  /** Which of its bars is the better one: the longer or the shorter. */
  readonly better: 'more' | 'less'
  readonly bars: readonly Bar[]
  /** The goal of the report; `undefined` if it has none. */
  readonly goal: string | undefined
  /** Whether the goal is met. */
  readonly isMet: boolean
}

/** The figures and when they were measured. */
export interface PublishedFigures {
  /** `2026-11-22`. */
  readonly date: string
  readonly figures: readonly Figure[]
}

/** How to read both figures from a row. */
interface Comparison {
  /** Finds ours, then the other. */
  readonly measured: RegExp
  readonly unit: string
  readonly other: string
  readonly better: Figure['better']
}

/** The report has no such figure, or writes it in another way. */
export class ReportError extends Error {
  /** @param lacking what was looked for. */
  constructor(lacking: string) {
    super(`docs/performance.md has no ${lacking}: src/app/home/published-figures.server.ts looks for it`)
    this.name = 'ReportError'
  }
}

/**
 * Reads six figures from the report, so that no figure is written twice.
 * @param report the text of `docs/performance.md`.
 * @throws {ReportError} if one of them is not there.
 */
export function readFigures(report: string): PublishedFigures {
  const row = (label: string): readonly string[] => {
    const line = report.split('\n').find((line) => line.startsWith(`| ${label}`))
    if (line === undefined) throw new ReportError(`row '${label}'`)
    return line.split('|').map((cell) => cell.trim())
  }
  /** A row of the first table: label, ratio, goal, what was measured. */
  const besideBare = (label: string, title: string, { measured, unit, other, better }: Comparison): Figure => {
    const [, , ratio = '', goal = '', text = ''] = row(label)
    const [, ours, bare] = measured.exec(text) ?? []
    if (ours === undefined || bare === undefined) throw new ReportError(`'ours' and 'bare' in row '${label}'`)
    return {
      title,
      value: `${plain(ratio)} ×`,
      beside: other,
      better,
      bars: [barOf('Millrace', ours, unit), barOf(other, bare, unit)],
      ...goalOf(goal, ratio),
    }
  }
  const pages: Comparison = {
    measured: /ours ([\d.,]+)\/s, bare ([\d.,]+)\/s/,
    unit: ' a second',
    other: 'Express with React alone',
    better: 'more',
  }
  const clicks: Comparison = {
    measured: /ours ([\d.,]+) ms, .*? ([\d.,]+) ms/,
    unit: ' ms',
    other: 'React alone',
    better: 'less',
  }
  const [, , routerBytes = '', routerGoal = ''] = row('the whole client router')
  const [, , scriptsOfNext = '', scriptsOfReactRouter = ''] = row('scripts of hello beyond React, gzip; ours')
  const [, , ownScripts = ''] = row('scripts of hello beyond React, gzip |')
  const [, , timesNext = '', timesReactRouter = ''] = row('hello |')
  const [, date] = /\*\*Date:\*\* (\d{4}-\d\d-\d\d)/.exec(report) ?? []
  if (date === undefined) throw new ReportError('date')
  return {
    date,
    figures: [
      besideBare('throughput, hello', 'Pages a second, the smallest page', pages),
      besideBare('throughput, spiral', 'Pages a second, 2,398 elements', pages),
      {
        title: 'Pages a second, beside frameworks',
        value: timesNext,
        beside: 'Next.js',
        better: 'more',
        bars: [
          { label: 'Millrace', amount: 1, text: '1' },
          { label: 'React Router', amount: 1 / numberIn(timesReactRouter), text: `1 / ${numberIn(timesReactRouter)}` },
          { label: 'Next.js', amount: 1 / numberIn(timesNext), text: `1 / ${numberIn(timesNext)}` },
        ],
        goal: undefined,
        isMet: true,
      },
      {
        title: 'Scripts of the smallest page, beyond React',
        value: kilobytes(ownScripts),
        beside: 'frameworks',
        better: 'less',
        bars: [
          { label: 'Millrace', amount: numberIn(ownScripts) / 1000, text: kilobytes(ownScripts) },
          barOf('React Router', scriptsOfReactRouter, ''),
          barOf('Next.js', scriptsOfNext, ''),
        ],
        goal: undefined,
        isMet: true,
      },
      {
        title: 'Scripts of the whole client router',
        value: kilobytes(routerBytes),
        beside: 'its goal',
        better: 'less',
        bars: [
          { label: 'Millrace', amount: numberIn(routerBytes), text: kilobytes(routerBytes) },
          { label: 'Goal', amount: numberIn(routerGoal), text: kilobytes(routerGoal) },
        ],
        goal: `≤ ${kilobytes(routerGoal)}`,
        isMet: !isBold(routerBytes),
      },
      besideBare('click to heading', 'Click to heading, data prefetched', clicks),
    ],
  }
}

/** Reads the figures of a file once. A failure is not kept: the next call reads again. */
export function createFigures(file: string): () => Promise<PublishedFigures> {
  const kept: { figures?: Promise<PublishedFigures> | undefined } = {}
  const read = async (): Promise<PublishedFigures> => {
    try {
      return readFigures(await readFile(file, 'utf8'))
    } catch (error) {
      kept.figures = undefined
      throw error
    }
  }
  return () => (kept.figures ??= read())
}

function barOf(label: string, amount: string, unit: string): Bar {
  return { label, amount: numberIn(amount), text: `${amount}${unit}` }
}

function goalOf(goal: string, figure: string): Pick<Figure, 'goal' | 'isMet'> {
  return { goal: goal === '' ? undefined : goal, isMet: !isBold(figure) }
}

/** A figure in bold misses its goal. */
function isBold(cell: string): boolean {
  return cell.startsWith('**')
}

function plain(cell: string): string {
  return cell.replaceAll('*', '')
}

function numberIn(cell: string): number {
  const number = Number(/\d[\d,]*(?:\.\d+)?/.exec(cell)?.[0].replaceAll(',', ''))
  if (!(number > 0)) throw new ReportError(`number in '${cell}'`)
  return number
}

function kilobytes(bytes: string): string {
  return `${(numberIn(bytes) / 1000).toFixed(1)} kB`
}
