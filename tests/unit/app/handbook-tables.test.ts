/** Tables of the handbook that are written by hand name all that the sources have. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pino } from 'pino'
import { describeConfig } from '../../../src/server/config/config.ts'
import { createServerMetrics } from '../../../src/server/process/metrics/server-metrics.ts'
import { gatherMetrics } from '../../../src/server/process/workers/gather-metrics.ts'
import { requestLogThrough } from '../../../src/server/request/request-log.ts'

/** What `bin/help.js` exports: plain JavaScript, which has no types here. */
interface Help {
  readonly COMMANDS: Readonly<Record<string, object>>
  helpOf(name: string, help: object): string
}

const { COMMANDS, helpOf } = (await import(new URL('../../../bin/help.js', import.meta.url).href)) as Help

/** What a metric of the library has, which its types do not say. */
interface Metric {
  readonly name: string
  readonly type: string
  readonly labelNames: readonly string[]
}

const DOCS = join(import.meta.dirname, '../../../docs')
const read = (name: string): string => readFileSync(join(DOCS, name), 'utf8')

/** The names in the first column of the table with a heading. */
function firstColumn(chapter: string, heading: string): readonly string[] {
  const [, rows = ''] =
    new RegExp(`^\\| ${heading} \\|.*\\n\\|[-|]+\\|\\n((?:\\|.*\\n)+)`, 'm').exec(read(chapter)) ?? []
  return [...rows.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name)
}

test('the chapter on configuration has every variable, and no other', () => {
  const variables = [...describeConfig().matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name)
  expect(variables.length).toBeGreaterThan(15)
  expect(firstColumn('configuration.md', 'variable').toSorted()).toEqual(variables.toSorted())
})

test('the chapter on commands has every command, and no other', () => {
  const named = firstColumn('commands.md', 'command').map((usage) => usage.split(' ')[1] ?? '')
  expect(named.toSorted()).toEqual(Object.keys(COMMANDS).toSorted())
})

test('every option of a command is in a chapter', () => {
  const handbook = globSync('*.md', { cwd: DOCS }).map(read).join('\n')
  const options = Object.entries(COMMANDS).flatMap(([name, help]) => helpOf(name, help).match(/--[a-z][\w-]*/g) ?? [])
  expect(options.length).toBeGreaterThan(20)
  expect([...new Set(options)].filter((option) => !handbook.includes(option))).toEqual([])
})

test('the chapter on configuration has every field of the line of a request, and no other', () => {
  const lines: string[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
  const line: Parameters<ReturnType<typeof requestLogThrough>>[0] = {
    requestId: 'a',
    traceId: 'b',
    method: 'GET',
    route: '/',
    status: 200,
    durationMs: 1,
    bytes: 1,
    aborted: true,
    refused: 'places',
    kind: 'document',
    cache: 'hit',
    late: 'failure',
  }
  requestLogThrough(log)(line, { req: {}, data: undefined })
  const fields = Object.keys(JSON.parse(lines.join('')) as object).filter((field) => field !== 'level')
  expect(firstColumn('configuration.md', 'field').toSorted()).toEqual(fields.toSorted())
})

test('the chapter on observability has every metric with its type and labels, and no other', async () => {
  const { registry } = createServerMetrics({
    buildId: 'x',
    admission: () => undefined,
    caches: () => undefined,
    reports: () => undefined,
    limit: 1,
    connections: () => Promise.resolve(0),
    sharedStore: () => undefined,
  })
  const own = (registry.getMetricsAsArray() as unknown as readonly Metric[]).map(({ name, type, labelNames }) => {
    return `${name} ${type} ${[...labelNames].join(' ')}`.trim()
  })
  const ofWorkers = [...(await gatherMetrics(() => []).text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  const known = [...own, ...ofWorkers.map(([, name, type]) => `${name} ${type}`)]
  const rows = read('observability.md').matchAll(/^\| ((?:`millrace_\w+`(?:, )?)+) \| (\w+) \|(.*?)\| .+ \|$/gm)
  const written = [...rows].flatMap(([, names = '', type, labels = '']) =>
    names.split(', ').map((name) => `${name} ${type} ${labels.replaceAll(',', '').trim()}`.replaceAll('`', '').trim()),
  )
  expect(written.toSorted()).toEqual(known.filter((name) => name.startsWith('millrace_')).toSorted())
})

test('the name of a metric ends in its unit, as the chapter on observability says', () => {
  const rows = [...read('observability.md').matchAll(/`(millrace_\w+)`.*? \| (counter|gauge|histogram) \|/g)]
  expect(rows.filter(([, name = '', type]) => (type === 'counter') !== name.endsWith('_total'))).toEqual([])
  const others = rows.flatMap(([, name = '', type]) => (type === 'histogram' && !name.endsWith('_seconds') ? name : []))
  expect(others).toEqual([])
})

test('each label of a metric is explained', () => {
  const labels = read('observability.md').matchAll(/^\| `millrace_\w+`.*? \| \w+ \| (`.*?`) \|/gm)
  const explained = new Set([...firstColumn('observability.md', 'label'), 'result', 'source', 'build', 'node'])
  const named = new Set([...labels].flatMap(([, names = '']) => names.replaceAll('`', '').split(', ')))
  expect([...named].filter((label) => !explained.has(label))).toEqual([])
})
