import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { ReportClient } from '../../../src/server/reports/sdk/report-client.ts'
import { RequestAborted } from '../../../src/server/request/request-aborted.ts'
import type { TracedAnswer } from '../../../src/server/request/request-reporter.ts'
import { createServerReporter, type ServerReporterParts } from '../../../src/server/reports/sdk/server-reporter.ts'

async function importClient() {
  return (await import('../../../src/server/reports/sdk/report-client.ts')).createReportClient
}

function reporterAt(clock: { now: number }, parts: Partial<ServerReporterParts> = {}) {
  const captured = { failures: 0, losses: [] as [string, number][], transactions: [] as (string | undefined)[] }
  const alarms: (() => void)[] = []
  const client: ReportClient = {
    captureFailure: () => void (captured.failures += 1),
    captureTransaction: ({ transaction }) => void captured.transactions.push(transaction),
    captureLoss: (category, quantity) => void captured.losses.push([category, quantity]),
    flush: () => Promise.resolve(),
    dispose: () => undefined,
  }
  const reporter = createServerReporter({
    intake: { take: async () => ({ eventId: undefined, kept: true }) },
    dsn: 'https://key@errors.example/1',
    release: 'r1',
    environment: 'production',
    sampleRate: 0,
    log: pino({ level: 'silent' }),
    now: () => clock.now,
    timeOrigin: 0,
    random: () => 0,
    after(_, run) {
      alarms.push(run)
      return () => void alarms.splice(alarms.indexOf(run), 1)
    },
    loadClient: () => Promise.resolve(() => client),
    ...parts,
  })
  const fail = (thrown: unknown = new Error('broken'), address = '203.0.113.9'): void =>
    reporter.failed(thrown, 'd', 'loader', {
      requestId: '1',
      req: {},
      route: '/',
      trace: undefined,
      clientAddress: { address },
    })
  return { captured, reporter, fail, alarms }
}

describe('a storm of failures', () => {
  test('is reported up to a bound, and the rest is told as a number, once in a while', async () => {
    const clock = { now: 0 }
    const { captured, reporter, fail } = reporterAt(clock)
    const storm = (failures: number): void => {
      for (let count = 0; count < failures; count += 1) fail(undefined, `203.0.113.${count}`)
    }
    storm(150)
    await reporter.flush()
    expect(captured).toMatchObject({ failures: 100, losses: [] })
    for (clock.now = 1_000; clock.now <= 5_000; clock.now += 1_000) storm(30)
    await reporter.flush()
    expect(captured).toMatchObject({ failures: 200, losses: [['error', 50]] })
    clock.now = 60_000
    fail()
    await reporter.flush()
    expect(captured.losses).toEqual([
      ['error', 50],
      ['error', 50],
    ])
  })

  test('that one visitor provokes keeps no failure of others from being reported', async () => {
    const clock = { now: 0 }
    const { captured, reporter, fail } = reporterAt(clock)
    for (; clock.now < 60_000; clock.now += 100) {
      for (let count = 0; count < 10; count += 1) fail(undefined, '198.51.100.7')
    }
    await reporter.flush()
    const greedy = captured.failures
    // Where nobody else fails, what there is for all is theirs but for the reserve.
    expect(greedy).toBeGreaterThan(1_000)
    for (let count = 0; count < 25; count += 1) fail(undefined, '203.0.113.9')
    await reporter.flush()
    expect(captured.failures).toBe(greedy + 25)
  })

  test('is kept apart by the visitor who has provoked it, whom the reports do not name', async () => {
    const taken: [client: string, envelope: string][] = []
    const intake: ServerReporterParts['intake'] = {
      take: async (bytes, { client }) => {
        taken.push([client, bytes.toString()])
        return { eventId: undefined, kept: true }
      },
    }
    const { reporter, fail } = reporterAt({ now: 0 }, { intake, loadClient: importClient })
    fail(new Error('of one'), '203.0.113.9')
    fail(new Error('of another'), '198.51.100.7')
    fail('of one, no error', '203.0.113.9')
    await reporter.fatal(new Error('of nobody'))
    await reporter.flush()
    reporter.dispose()
    expect(taken.map(([client]) => client).toSorted()).toEqual([
      'server',
      'server for 198.51.100.7',
      'server for 203.0.113.9',
      'server for 203.0.113.9',
    ])
    for (const [, envelope] of taken) expect(envelope).not.toMatch(/203\.0|198\.51/)
  })

  test('of what is no failure takes nothing from it', async () => {
    const { captured, reporter, fail } = reporterAt({ now: 0 })
    for (let count = 0; count < 150; count += 1) fail(new RequestAborted('gone'))
    fail()
    await reporter.flush()
    expect(captured.failures).toBe(1)
  })
})

describe('data that a page asks for again', () => {
  const request = (traceId: string, route = '/_m/data/rye', method = 'GET') => ({
    requestId: '1',
    clientAddress: { address: '203.0.113.9' },
    req: { method },
    route,
    trace: { traceId, spanId: 'b'.repeat(16), parentSpanId: undefined, sampled: false, sampling: {} },
  })

  async function reports(
    of: (tell: (digest: string, traceId: string, route?: string, method?: string) => void) => void,
  ) {
    const clock = { now: 0 }
    const { captured, reporter } = reporterAt(clock)
    of((digest, traceId, route, method) => {
      reporter.failed(new Error('broken'), digest, 'loader', request(traceId, route, method))
      clock.now += 10_000
    })
    await reporter.flush()
    return captured.failures
  }

  test('and that fails each time is one failure', async () => {
    expect(await reports((tell) => [1, 2, 3].forEach(() => tell('d', 'a')))).toBe(1)
  })

  test('is another failure in another trace, by another digest, or half a minute later', async () => {
    expect(await reports((tell) => ['a', 'b'].forEach((trace) => tell('d', trace)))).toBe(2)
    expect(await reports((tell) => ['d', 'e'].forEach((digest) => tell(digest, 'a')))).toBe(2)
    expect(await reports((tell) => [0, 10, 20, 30].forEach(() => tell('d', 'a')))).toBe(2)
  })

  test('is nothing that goes for documents and actions: nobody asks for those again by themselves', async () => {
    expect(await reports((tell) => [1, 2].forEach(() => tell('d', 'a', '/rye')))).toBe(2)
    expect(await reports((tell) => [1, 2].forEach(() => tell('d', 'a', '/_m/data/rye', 'POST')))).toBe(2)
  })
})

describe('requests that were sampled', () => {
  const answer = (route: string): TracedAnswer => ({
    trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: undefined, sampled: true, sampling: {} },
    requestId: '1',
    client: '203.0.113.9',
    method: 'GET',
    route,
    kind: 'document',
    status: 200,
    prefetch: false,
    aborted: false,
    untraced: false,
    startedAt: 1,
    endedAt: 2,
    spans: [],
  })

  test('are told of together, once in a while, and at the end at once', async () => {
    const { captured, reporter, alarms } = reporterAt({ now: 0 })
    reporter.answered(answer('/rye'))
    reporter.answered(answer('/oats'))
    await reporter.warm()
    expect([captured.transactions, alarms.length]).toEqual([[], 1])
    alarms[0]?.()
    await reporter.warm()
    expect(captured.transactions).toEqual(['GET /rye', 'GET /oats'])
    reporter.answered(answer('/barley'))
    await reporter.flush()
    expect([captured.transactions.at(-1), alarms.length]).toEqual(['GET /barley', 0])
  })
})
