import { describe, expect, it } from 'vitest'
import type { NavigationRecord, RequestRecord } from '../../../src/client/core/data/journal.ts'
import { actionTable, hydrationTable, renderTable } from '../../../src/client/inspect/page-tables.ts'
import {
  DATA_PATH,
  OWN_PARAMS,
  readTiming,
  type ObservedRequest,
  type PageFacts,
} from '../../../src/client/inspect/page-facts.ts'
import { matchTimings, requestTable } from '../../../src/client/inspect/request-tables.ts'
import { broughtBy } from '../../../src/client/inspect/screen-tables.ts'
import type { InspectorTable } from '../../../src/client/inspect/inspector-table.ts'
import { ACTION_PARAM } from '../../../src/shared/protocol/action-call.ts'
import { ROUTE_DATA_PREFIX, SEGMENTS_PARAM } from '../../../src/shared/protocol/route-data.ts'

const ORIGIN = 'https://mill.example'

const texts = ({ rows }: InspectorTable): string[][] => rows.map(({ cells }) => cells.map(({ text }) => text))

const timing = (given: Partial<ObservedRequest>): ObservedRequest => ({
  url: '/_m/data/a',
  kind: 'data',
  page: '/a',
  startedAt: 100,
  durationMs: 50,
  waitingMs: 40,
  status: 200,
  bytes: 1234,
  server: [],
  ...given,
})

const record = (given: Partial<RequestRecord>): RequestRecord => ({
  href: '/a',
  wants: undefined,
  prefetch: false,
  startedAt: 100,
  endedAt: 150,
  status: 200,
  ...given,
})

const FACTS: PageFacts = {
  now: 1000,
  startedAt: 0,
  document: undefined,
  failures: [],
  requests: [],
  calls: [],
  dropped: [],
  recovered: [],
  actionNames: {},
  content: undefined,
}

const entry = (name: string, given: Partial<PerformanceResourceTiming> = {}) =>
  ({
    name: ORIGIN + name,
    initiatorType: 'fetch',
    startTime: 5,
    responseStart: 20,
    duration: 30,
    transferSize: 700,
    responseStatus: 200,
    serverTiming: [],
    ...given,
  }) as unknown as PerformanceResourceTiming

describe('a measurement of the browser', () => {
  it('names what the protocol names', () => {
    expect([DATA_PATH, OWN_PARAMS]).toEqual([ROUTE_DATA_PREFIX, [SEGMENTS_PARAM, ACTION_PARAM]])
  })

  it.each([
    ['/_m/data/a', { kind: 'data', page: '/a' }],
    ['/shop/_m/data/a?x=1&_m=%2Fa%23page&y=2', { kind: 'data', page: '/a?x=1&y=2' }],
    ['/_m/data/a?_m=&_action=abc', { kind: 'action', page: '/a', action: 'abc' }],
    ['/_m/assets/a.js', { kind: 'script', url: '/_m/assets/a.js' }],
    ['/_m/assets/a.css?v=1', { kind: 'style' }],
  ])('%s is %j', (name, expected) => {
    expect(readTiming(entry(name), 1000, ORIGIN)).toMatchObject({ ...expected, startedAt: 1005, waitingMs: 15 })
  })

  it('has the loaders of the server, and no traces', () => {
    const serverTiming = [
      { name: 'loader', description: '/a#page', duration: 3.2 },
      { name: 'sentry-trace', description: 'x', duration: 0 },
    ] as unknown as PerformanceServerTiming[]
    const { server } = readTiming(entry('/_m/data/a', { serverTiming }), 0, ORIGIN)
    expect(server).toEqual([{ name: '/a#page', durationMs: 3.2 }])
  })
})

describe('the waterfall', () => {
  it('gives each of two equal requests its own measurement, and none to one that has not ended', () => {
    const records = [record({}), record({ startedAt: 160, endedAt: 200 }), { ...record({ startedAt: 210 }) }]
    delete records[2]?.endedAt
    const timings = [timing({ startedAt: 161 }), timing({ startedAt: 102 }), timing({ startedAt: 211 })]
    const found = matchTimings(records, timings)
    expect(records.map((one) => found.get(one)?.startedAt)).toEqual([102, 161, undefined])
  })

  it('leaves a measurement of another page, or of another time, alone', () => {
    const found = matchTimings([record({})], [timing({ page: '/b' }), timing({ startedAt: 400 })])
    expect(found.size).toBe(0)
  })

  it('has a common scale for requests that follow each other within a second, and another one after that', () => {
    const requests = [record({}), record({ startedAt: 250, endedAt: 300 }), record({ startedAt: 5000, endedAt: 5010 })]
    const table = requestTable({ requests }, { ...FACTS, requests: [timing({})] }, 6000)
    const bars = table.rows.toReversed().map(({ cells }) => cells.find(({ bar }) => bar)?.bar)
    expect(bars).toEqual([
      { start: 0, waiting: 0.2, receiving: 0.05 },
      { start: 0.75, waiting: 0.25, receiving: 0 },
      { start: 0, waiting: 1, receiving: 0 },
    ])
  })

  it('tells actions from data, and a cancelled request from a failed one', () => {
    const requests = [record({}), record({ startedAt: 500, endedAt: 501, failed: 'Route cancelled', status: 0 })]
    const { rows } = requestTable({ requests }, { ...FACTS, requests: [timing({ kind: 'action' })] })
    expect(rows.map(({ cells }) => [cells[2]?.text, cells[1]?.tone])).toEqual([
      ['needed', 'warn'],
      ['action', 'good'],
    ])
  })
})

describe('what has brought the data of a segment', () => {
  const kept = { content: '1', receivedAt: 140, path: '/a' }
  const visit: NavigationRecord = { id: 1, kind: 'push', from: '/', to: '/a', startedAt: 90, readyAt: 160 }
  it.each([
    ['document', { ...kept, content: undefined }, [record({})], [], []],
    ['navigation', kept, [record({})], [visit], []],
    ['refresh', kept, [record({})], [{ ...visit, kind: 'refresh' as const }], []],
    ['prefetch', kept, [record({ prefetch: true })], [visit], []],
    ['refetch', kept, [record({})], [{ ...visit, startedAt: 10, readyAt: 20 }], []],
    ['action', kept, [record({})], [], [timing({ kind: 'action' })]],
    ['navigation', kept, [record({ wants: ['/a#page'] })], [visit], []],
    ['an earlier request', kept, [record({ wants: ['/a#layout'] })], [visit], []],
    ['an earlier request', kept, [record({ href: '/ab' })], [visit], []],
  ])('is: %s', (expected, given, requests, navigations, timings) => {
    expect(broughtBy({ journal: { ...JOURNAL, requests, navigations } }, { requests: timings }, '/a#page', given)).toBe(
      expected,
    )
  })
})

const JOURNAL = { request: (one: RequestRecord) => one, navigation: (one: NavigationRecord) => one }

describe('the actions', () => {
  const call = { id: 'abc', startedAt: 100, endedAt: 900 }
  const attempt = (given: Partial<ObservedRequest>): ObservedRequest =>
    timing({ kind: 'action', action: 'abc', ...given })

  it.each([
    [[attempt({})], {}, ['/a', 'answered', '800 ms', '1', '200, done']],
    [[attempt({ status: 503 }), attempt({ startedAt: 400 })], {}, ['/a', 'answered', '800 ms', '2', '200, done']],
    [[attempt({ status: 422 })], {}, ['/a', 'answered', '800 ms', '1', '422, input refused']],
    [[attempt({ status: 500 })], { failed: 'Broken' }, ['/a', 'answered', '800 ms', '1', '500, Broken']],
    [[], { failed: 'No network' }, ['', 'answered', '800 ms', '0', 'No network']],
    [[], { endedAt: undefined }, ['', 'in flight', '900 ms', '', '']],
  ])('show a call with the requests %j', (requests, given, expected) => {
    const calls = [{ ...call, ...given }] as PageFacts['calls']
    const table = actionTable({ ...FACTS, calls, requests, actionNames: { abc: 'desk save' } }, 1000)
    expect(texts(table)).toEqual([['desk save', ...expected]])
  })

  it('are read from requests alone where no call is watched, repetitions in one row', () => {
    const requests = [attempt({ status: 503 }), attempt({ startedAt: 400 }), attempt({ startedAt: 700 })]
    expect(texts(actionTable({ ...FACTS, requests }, 1000)).map((row) => [row[0], row[3], row[4]])).toEqual([
      ['abc', '50 ms', '1'],
      ['abc', '350 ms', '2'],
    ])
  })
})

describe('the page', () => {
  it('shows the size of the hydration data by segment, the largest first', () => {
    const content = { streamed: false, bytes: 0, lateParts: 0, lateValues: 0, hydrationSize: 400 }
    const segments = [
      ['/#layout', 100],
      ['/a#page', 200],
    ] as const
    expect(texts(hydrationTable({ content: { ...content, segments } }))).toEqual([
      ['/a#page', '200', '50 %'],
      ['/#layout', '100', '25 %'],
    ])
  })

  it('shows renders that nobody has seen: of the browser, of hydration, of the server', () => {
    const base = { id: 1, kind: 'push' as const, from: '/', to: '/a', startedAt: 0 }
    const navigations: NavigationRecord[] = [
      { ...base, readyAt: 10, endedAt: 25, end: 'cancel' },
      { ...base, endedAt: 25, end: 'cancel' },
      { ...base, readyAt: 10, endedAt: 25, end: 'commit' },
    ]
    const document = timing({ url: '/late', kind: 'document', server: [{ name: 'discarded', durationMs: 4 }] })
    const table = renderTable({ document, recovered: ['It did not match.'] }, { navigations })
    expect(texts(table).map(([where, what]) => [where, what])).toEqual([
      ['browser', '/a'],
      ['browser', 'hydration'],
      ['server', '/late'],
    ])
  })
})
