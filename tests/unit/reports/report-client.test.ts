import { afterEach, expect, test } from 'vitest'
import { createReportClient, type ReportClient } from '../../../src/server/reports/sdk/report-client.ts'

const made: ReportClient[] = []
afterEach(() => made.splice(0).forEach((client) => client.dispose()))

function clientWith(pending: Map<string, string>) {
  const handed: (string | undefined)[] = []
  const client = createReportClient(
    {
      dsn: 'https://key@errors.example/1',
      release: 'r1',
      environment: 'production',
      hand: (_envelope, _category, of) => void handed.push(of),
    },
    pending,
  )
  made.push(client)
  const fail = (thrown: unknown, of: string | undefined): void =>
    client.captureFailure(thrown, {
      place: 'loader',
      level: 'error',
      tags: {},
      transaction: undefined,
      trace: undefined,
      client: of,
    })
  return { client, handed, fail }
}

test('each event is handed on with the client that it happened for', async () => {
  const pending = new Map<string, string>()
  const { client, handed, fail } = clientWith(pending)
  fail(new Error('one'), 'a')
  fail(new Error('two'), 'b')
  fail('a text', undefined)
  await client.flush()
  expect(handed.toSorted()).toEqual(['a', 'b', undefined])
  expect(pending.size).toBe(0)
})

test('an error that is thrown again and again, which the SDK drops, leaves nothing in memory', async () => {
  const pending = new Map<string, string>()
  const { client, handed, fail } = clientWith(pending)
  const always = new Error('made once, when the module was loaded')
  for (let count = 0; count < 50; count += 1) fail(always, `visitor ${count}`)
  await client.flush()
  expect(handed).toEqual(['visitor 0'])
  expect(pending.size).toBe(0)
})
