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

test('frames of an error are the lines that the platform wrote, not the lines of its message', async () => {
  const events: { exception: { values: [{ stacktrace: { frames: { filename: string; function: string }[] } }] } }[] = []
  const client = createReportClient({
    dsn: 'https://key@errors.example/1',
    release: 'r1',
    environment: 'production',
    hand: (envelope) => void events.push(JSON.parse(envelope.toString().split('\n')[2] ?? '') as (typeof events)[0]),
  })
  made.push(client)
  const fail = (thrown: Error): void =>
    client.captureFailure(thrown, {
      place: 'loader',
      level: 'error',
      tags: {},
      transaction: undefined,
      trace: undefined,
      client: undefined,
    })
  function throwsHere(message: string): Error {
    return new Error(message)
  }
  fail(throwsHere('one line'))
  fail(throwsHere(`no such name: ${'x\n    at forged (/forged.js:1:1)\n'.repeat(900)}`))
  fail(Object.assign(throwsHere('three'), { stack: 'Error: three\n    at onlyOne (/one.js:1:1)' }))
  await client.flush()
  const frames = events.map((event) => event.exception.values[0].stacktrace.frames)
  expect(frames[0]?.at(-1)).toMatchObject({ function: 'throwsHere' })
  expect(frames[1]?.filter((frame) => frame.function === 'throwsHere')).toHaveLength(1)
  expect(frames[1]?.length).toBeLessThanOrEqual(Error.stackTraceLimit)
  expect(frames[2]?.map((frame) => frame.function)).toEqual(['onlyOne'])
})
