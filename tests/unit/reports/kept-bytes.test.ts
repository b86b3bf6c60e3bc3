import { expect, onTestFinished, test, vi } from 'vitest'
import { EnvelopeError } from '../../../src/server/reports/intake/envelope.ts'
import { createIntake } from '../../../src/server/reports/intake/intake.ts'
import type { AcceptedEnvelope } from '../../../src/server/reports/intake/accepted-envelope.ts'
const NOW = Date.UTC(2026, 10, 5, 12)
const ID = '0123456789abcdef0123456789abcdef'
const SENT = '"sent_at":"2026-11-05T12:00:00.000Z"'

/** Hands bytes in, and gives what is kept of them as text, with the values that were charged. */
async function keptOf(bytes: string | Buffer): Promise<{ readonly text: string; readonly charged: number }> {
  const accepted: AcceptedEnvelope[] = []
  const seen = { charged: 0 }
  const intake = createIntake({
    relayPath: '/here',
    accept: (each) => void accepted.push(each),
    now: () => NOW,
    newId: () => ID,
  })
  const charge = (values: number): Promise<void> => Promise.resolve(void (seen.charged += values))
  await intake.take(Buffer.from(bytes), { client: '192.0.2.7', headers: {}, charge })
  return { text: accepted[0]?.body.toString('latin1') ?? '', charged: seen.charged }
}

const ODD = '"a":1e400,"b":12345678901234567890,"c":-0,"d":1.0,"e":1.50e+2,"a":"twice","\\u0066":"\\u00e9\\/"'
const EVENT = '{"type":"event"}\n{"message":"x","n":[1e400,12345678901234567890,-0,1.0]}\n'

test.for([
  ['its own', `{"event_id":"${ID}",${ODD}}\n${EVENT}`],
  [
    'an item, with a length',
    `{"event_id":"${ID}"}\n{${ODD},"type":"attachment","length":3,"length":3.0}\nab\n\n${EVENT}`,
  ],
  ['an item, without a length', `{"event_id":"${ID}"}\n{ ${ODD} ,\t"type" : "session" }\r\n{"x":1}\n${EVENT}`],
  ['an item of a type that nobody knows', `{"event_id":"${ID}"}\n{"type":"of 2030","x":-0.0}\n??\n`],
  ['an event id with dashes', `{"event_id":"01234567-89AB-cdef-0123-456789abcdef","x":1.0}\n${EVENT}`],
  ['an item, twice the same type', `{"event_id":"${ID}"}\n{"type":"event","type":"session"}\n{}\n`],
  [
    'with empty lines and no last newline',
    `{"event_id":"${ID}"}\n\n\n{"type":"session"}\n{}\n\n\n{"type":"event"}\n{}`,
  ],
] as const)('an envelope passes byte for byte, whatever a header says: %s', async ([, bytes]) => {
  expect((await keptOf(bytes)).text).toBe(Buffer.from(bytes).toString('latin1'))
})

test('what would take long because it is nested deeply is refused as malformed', async () => {
  const deep = `${'['.repeat(120_000)}${']'.repeat(120_000)}`
  const error = await keptOf(`{}\n{"type":"transaction"}\n{"a":${deep}}\n`).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'EnvelopeError', status: 400 })
})

test('empty lines cost nothing, and pass', async () => {
  const bytes = `{"event_id":"${ID}"}\n${'\n'.repeat(70_001)}{"type":"session"}\n{}`
  expect((await keptOf(bytes)).text === bytes).toBe(true)
})

test('what the header says twice of its project or its event is said once, as it was read here', async () => {
  const { text } = await keptOf(`{"dsn":"a", "x":1,"event_id":"b","x":2,"dsn":"c" ,"event_id":"${ID}"}\n${EVENT}`)
  expect(text).toBe(`{ "x":1,"x":2,"dsn":"c" ,"event_id":"${ID}"}\n${EVENT}`)
})

test('the header loses the time of sending, gets an id, and keeps all else as it was', async () => {
  const { text } = await keptOf(`{ "x":1e400 , ${SENT}, "big":12345678901234567890,"event_id":7 ,"-":-0 }\n${EVENT}`)
  expect(text).toBe(`{ "x":1e400, "big":12345678901234567890 ,"-":-0,"event_id":"${ID}" }\n${EVENT}`)
})

test('beside an item that is left out, the others pass byte for byte', async () => {
  const redirect = '{"type":"event"}\n{"exception":{"values":[{"type":"RedirectSignal","value":"x"}]}}\n'
  const session = `{"type":"session", ${ODD}}\n{"n":1e400}\n`
  const { text } = await keptOf(`{"event_id":"${ID}"}\n\n${redirect}\n${session}{"type":"session","length":2}\n{}`)
  expect(text).toBe(`{"event_id":"${ID}"}\n${session}{"type":"session","length":2}\n{}\n`)
})

test('an item that is changed has another length in its header, and else the header that it had', async () => {
  const spans = '{"items":[{"name":"a"},{"name":"b","status":"not_found"}]}'
  const { text } = await keptOf(
    `{}\n{"x":1e400,"type":"span","length":${spans.length},"item_count":2,"y":-0}\n${spans}\n`,
  )
  expect(text).toBe('{}\n{"x":1e400,"type":"span","y":-0,"item_count":1,"length":24}\n{"items":[{"name":"a"}]}\n')
})

test.for([
  ['an event', `{}\n{"type":"event"}\n{"a":[${'{},'.repeat(60_000)}0]}\n`],
  ['many spans', `{}\n{"type":"span"}\n{"items":[${'{},'.repeat(60_000)}{}]}\n`],
  ['several events', `{}\n${`{"type":"event"}\n{"a":[${'{},'.repeat(20_000)}0]}\n`.repeat(4)}`],
  ['headers', `{}\n${`{"type":"x","a":[${'{},'.repeat(20_000)}0]}\n\n`.repeat(300)}`],
] as const)('what would take long to read is refused before it is read: %s', async ([, bytes]) => {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  const error = await keptOf(bytes).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(EnvelopeError)
  expect(error).toMatchObject({ status: 413 })
  // Headers of envelopes and items alone.
  for (const [text] of parse.mock.calls) expect(text.length).toBeLessThan(20)
})

test('values are charged before they are read, where they are more than in a usual report', async () => {
  const spans = Array.from({ length: 1_000 }, (_, at) => ({ span_id: String(at), data: { a: 1, b: 2, c: 3 } }))
  const transaction = JSON.stringify({ type: 'transaction', spans })
  expect((await keptOf(`{}\n{"type":"transaction"}\n${transaction}\n`)).charged).toBeGreaterThan(6_000)
  expect((await keptOf(`{}\n{"type":"transaction"}\n${transaction}\n`)).charged).toBeLessThan(16_000)
  expect((await keptOf(`{}\n${EVENT}`)).charged).toBe(0)
  expect((await keptOf(`{}\n${'{"type":"event"}\n{"a":[0,0,0,0]}\n'.repeat(900)}`)).charged).toBeGreaterThan(3_000)
})
