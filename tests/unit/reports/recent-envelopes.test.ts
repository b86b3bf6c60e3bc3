import { expect, test } from 'vitest'
import { createRecentEnvelopes } from '../../../src/server/reports/spool/recent-envelopes.ts'

const envelope = (text: string) => ({ headers: {}, body: Buffer.from(text) })

test('an envelope that has just been kept is handed out once, without the disk', () => {
  const recent = createRecentEnvelopes()
  recent.keep(7, envelope('rye'), 0)
  expect(recent.take(7)?.body.toString()).toBe('rye')
  expect(recent.take(7)).toBeUndefined()
})

test('where they come faster than they go, those that are next are kept, and memory is bounded', () => {
  const recent = createRecentEnvelopes(6)
  for (const [at, text] of ['rye', 'oats', 'tea'].entries()) recent.keep(at, envelope(text), at)
  expect([0, 1, 2].map((id) => recent.take(id)?.body.toString())).toEqual(['rye', undefined, 'tea'])
  recent.keep(3, envelope('barley'), 5)
  expect(recent.take(3)?.body.toString()).toBe('barley')
})

test('what another process has delivered does not take the room for ever', () => {
  const recent = createRecentEnvelopes(6)
  recent.keep(1, envelope('barley'), 0)
  recent.keep(2, envelope('rye'), 29_999)
  recent.keep(3, envelope('tea'), 30_000)
  expect([1, 2, 3].map((id) => recent.take(id)?.body.toString())).toEqual([undefined, undefined, 'tea'])
})
