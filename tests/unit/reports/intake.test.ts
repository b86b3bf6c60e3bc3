import { beforeEach, describe, expect, test } from 'vitest'
import { parseEnvelope, serializeEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import { createIntake } from '../../../src/server/reports/intake/intake.ts'
import type { AcceptedEnvelope } from '../../../src/server/reports/intake/accepted-envelope.ts'
const NOW = Date.UTC(2026, 10, 5, 12)
const ID = '0123456789abcdef0123456789abcdef'
const NEW_ID = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'
const accepted: AcceptedEnvelope[] = []
const intake = createIntake({
  relayPath: '/left/here',
  accept: (envelope) => void accepted.push(envelope),
  now: () => NOW,
  newId: () => NEW_ID,
})

beforeEach(() => void accepted.splice(0))

type Item = readonly [type: string, payload: object | Buffer, header?: object]

async function take(items: readonly Item[], header: object = { event_id: ID }) {
  const bytes = serializeEnvelope({
    header: { ...header },
    items: items.map(([type, payload, own]) => ({
      type,
      header: { type, ...own },
      payload: Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload)),
    })),
  })
  const receipt = await intake.take(bytes, { client: '192.0.2.7', headers: { 'user-agent': 'x' } })
  const kept = accepted.at(-1)
  return { receipt, kept, read: kept === undefined ? undefined : parseEnvelope(kept.body) }
}

const crash = { exception: { values: [{ type: 'Error', value: 'broken' }] } }
const redirect = { exception: { values: [{ type: 'RedirectSignal', value: 'Redirect to /x' }] } }
const picture = Buffer.from([0, 10, 13, 255, 123, 10])

test('an event is kept with its attachment, byte for byte, for its sender', async () => {
  const { receipt, kept, read } = await take([
    ['event', crash],
    ['attachment', picture, { filename: 'a.png' }],
  ])
  expect(receipt).toEqual({ eventId: ID, kept: true })
  expect(kept).toMatchObject({
    receivedAt: NOW,
    client: '192.0.2.7',
    eventId: ID,
    headers: { 'user-agent': 'x' },
    categories: { error: 1, attachment: 1 },
    keep: 'error',
  })
  expect(read?.items.map(({ type, header, payload }) => [type, header['filename'], payload])).toEqual([
    ['event', undefined, Buffer.from(JSON.stringify(crash))],
    ['attachment', 'a.png', picture],
  ])
})

test('a redirect is not kept, and neither is what belongs to it', async () => {
  const { receipt, kept } = await take([
    ['event', redirect],
    ['attachment', picture],
  ])
  expect(receipt).toEqual({ eventId: ID, kept: false })
  expect(kept).toBeUndefined()
})

test('what came along with a redirect and stands for itself is kept', async () => {
  const { read, kept } = await take([
    ['event', redirect],
    ['attachment', picture],
    ['session', { status: 'ok' }],
  ])
  expect(read?.items.map(({ type }) => type)).toEqual(['session'])
  expect(kept).toMatchObject({ keep: 'other', categories: { session: 1 } })
})

test('an attachment that came without an event is kept', async () => {
  expect((await take([['attachment', picture]])).read?.items).toHaveLength(1)
})

test('an empty envelope is not kept', async () => {
  expect((await take([])).receipt.kept).toBe(false)
})

describe('a transaction', () => {
  test('of a page that was not found is not kept, though its payload does not say what it is', async () => {
    expect((await take([['transaction', { contexts: { trace: { status: 'not_found' } } }]])).receipt.kept).toBe(false)
  })

  test('loses its spans of redirects', async () => {
    const spans = [
      { span_id: 'a', status: 'ok' },
      { span_id: 'b', data: { 'http.response.status_code': 303 } },
    ]
    const { read } = await take([['transaction', { type: 'transaction', spans }]])
    const payload = JSON.parse(String(read?.items[0]?.payload)) as { spans: object[] }
    expect(payload.spans).toEqual([spans[0]])
  })
})

describe('spans sent by themselves', () => {
  const container = (items: object[]): Item => ['span', { version: 2, items }, { item_count: items.length }]
  const page = { name: 'a', attributes: {} }
  const missing = { name: 'b', attributes: { 'http.response.status_code': { type: 'integer', value: 404 } } }

  test('are left out one by one, and counted anew', async () => {
    const { read, kept } = await take([container([page, missing, page])], {})
    expect(JSON.parse(String(read?.items[0]?.payload))).toEqual({ version: 2, items: [page, page] })
    expect(read?.items[0]?.header['item_count']).toBe(2)
    expect(kept).toMatchObject({ categories: { span: 2 }, keep: 'other', eventId: undefined })
  })

  test('leave nothing where all are left out', async () => {
    expect((await take([container([missing])], {})).receipt.kept).toBe(false)
  })

  test('of the relay itself are left out', async () => {
    expect((await take([['span', { name: 'POST /left/here', span_id: 'a' }]], {})).receipt.kept).toBe(false)
  })
})

test('what cannot be judged is kept: the service will', async () => {
  const huge = { ...redirect, extra: 'x'.repeat(2_100_000) }
  for (const payload of [Buffer.from('{"exception":'), Buffer.from('[]'), Buffer.from('\xff', 'latin1'), huge]) {
    expect((await take([['event', payload]])).receipt.kept).toBe(true)
  }
})

describe('the event id', () => {
  test('is written without dashes', async () => {
    expect((await take([['event', crash]], { event_id: '01234567-89AB-cdef-0123-456789abcdef' })).receipt.eventId).toBe(
      ID,
    )
  })

  test('is the one of the event where the header has none', async () => {
    const { receipt, read } = await take([['event', { ...crash, event_id: ID }]], {})
    expect(receipt.eventId).toBe(ID)
    expect(read?.header['event_id']).toBe(ID)
  })

  test('is made where there is none, so that a second delivery is known as the same', async () => {
    const { receipt, read } = await take([['event', crash]], { event_id: 'none' })
    expect(receipt.eventId).toBe(NEW_ID.replaceAll('-', ''))
    expect(read?.header['event_id']).toBe(receipt.eventId)
  })

  test('is not made for what has none', async () => {
    expect((await take([['session', {}]], {})).receipt.eventId).toBeUndefined()
  })
})

describe('the time of sending', () => {
  const sentAt = async (milliseconds: number) => {
    const { read } = await take([['event', crash]], { event_id: ID, sent_at: new Date(milliseconds).toISOString() })
    return read?.header['sent_at']
  }

  test('is left out where the clock is right, so that waiting here is not taken for its error', async () => {
    expect(await sentAt(NOW - 60_000)).toBeUndefined()
    expect(await sentAt(NOW + 54 * 60_000)).toBeUndefined()
  })

  test('is passed on where the clock is wrong', async () => {
    expect(await sentAt(NOW - 56 * 60_000)).toBe(new Date(NOW - 56 * 60_000).toISOString())
    expect(await sentAt(NOW + 86_400_000)).toBeDefined()
  })

  test('is left out where it is none', async () => {
    expect((await take([['event', crash]], { event_id: ID, sent_at: 'now' })).read?.header['sent_at']).toBeUndefined()
  })
})

test('a count that nobody can believe is not believed', async () => {
  for (const count of [-1, 1.5, 'many', Number.MAX_SAFE_INTEGER]) {
    const { kept } = await take([['log', { items: [] }, { item_count: count }]], {})
    expect(kept?.categories['log_item']).toBeLessThanOrEqual(100_000)
    expect(kept?.categories['log_item']).toBeGreaterThan(0)
  }
})

test.for([
  ['of many items', 200, 7_000, '{"type":"session"}\n{}\n'.repeat(1_000)],
  ['of too many items', 413, 7_000, '{"type":"session"}\n{}\n'.repeat(1_001)],
  ['of many values in a header', 200, 19_000, `{"type":"event","a":[${'0,'.repeat(20_000)}0]}\n{}\n`],
  ['of too many values', 413, 100_000, `{"type":"event"}\n{"a":[${'0,'.repeat(200_000)}0]}\n`],
  ['nested too deeply', 400, 100_000, `{"type":"event"}\n${'['.repeat(200_000)}\n`],
  ['that ends in the middle', 400, 19_000, `{"type":"event","length":9,"a":[${'0,'.repeat(20_000)}0]}\n`],
] as const)('an envelope %s is charged for, whatever the answer', async ([, status, least, rest]) => {
  const charged: number[] = []
  const charge = async (values: number) => void charged.push(values)
  const sender = { client: '192.0.2.7', headers: {}, charge }
  const answer = await intake.take(Buffer.from(`{}\n${rest}`), sender).then(
    () => 200,
    (error: { readonly status: number }) => error.status,
  )
  expect(answer).toBe(status)
  expect(charged).toHaveLength(1)
  expect(charged[0]).toBeGreaterThanOrEqual(least)
})

test('a client that may send no more hears so, whatever is wrong with the envelope', async () => {
  const charge = () => Promise.reject(new Error('too fast'))
  for (const rest of ['{"type":"session"}\n{}\n'.repeat(100), `{"type":"event"}\n{"a":[${'0,'.repeat(200_000)}0]}\n`]) {
    const taken = intake.take(Buffer.from(`{}\n${rest}`), { client: 'a', headers: {}, charge })
    await expect(taken).rejects.toThrow('too fast')
  }
})
