import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { ReportClient } from '../../../src/server/reports/sdk/report-client.ts'
import { createServerReporter } from '../../../src/server/reports/sdk/server-reporter.ts'

function reporterAt(clock: { now: number }) {
  const captured = { failures: 0, losses: [] as [string, number][] }
  const client: ReportClient = {
    captureFailure: () => void (captured.failures += 1),
    captureTransaction: () => undefined,
    captureLoss: (category, quantity) => void captured.losses.push([category, quantity]),
    flush: () => Promise.resolve(),
    dispose: () => undefined,
  }
  const reporter = createServerReporter({
    intake: { take: async () => ({ eventId: undefined, kept: true }) },
    dsn: 'https://key@errors.example/1',
    relayPath: '/r',
    release: 'r1',
    environment: 'production',
    sampleRate: 0,
    log: pino({ level: 'silent' }),
    now: () => clock.now,
    timeOrigin: 0,
    random: () => 0,
    loadClient: () => Promise.resolve(() => client),
  })
  const fail = (thrown: unknown = new Error('broken')): void =>
    reporter.failed(thrown, 'd', 'loader', { requestId: '1', req: {}, route: '/', trace: undefined })
  return { captured, reporter, fail }
}

describe('a storm of failures', () => {
  test('is reported up to a bound, and the rest is told as a number, once in a while', async () => {
    const clock = { now: 0 }
    const { captured, reporter, fail } = reporterAt(clock)
    for (let count = 0; count < 150; count += 1) fail()
    await reporter.flush()
    expect(captured).toEqual({ failures: 100, losses: [] })
    for (clock.now = 1_000; clock.now <= 5_000; clock.now += 1_000) for (let count = 0; count < 30; count += 1) fail()
    await reporter.flush()
    expect(captured).toEqual({ failures: 200, losses: [['error', 50]] })
    clock.now = 60_000
    fail()
    await reporter.flush()
    expect(captured.losses).toEqual([
      ['error', 50],
      ['error', 50],
    ])
  })

  test('of what is no failure takes nothing from it', async () => {
    const { captured, reporter, fail } = reporterAt({ now: 0 })
    const gone = Object.assign(new Error('The client has gone away'), { name: 'AbortError' })
    for (let count = 0; count < 150; count += 1) fail(gone)
    fail()
    await reporter.flush()
    expect(captured.failures).toBe(1)
  })
})
