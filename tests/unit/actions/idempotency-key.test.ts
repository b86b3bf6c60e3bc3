import { expect, test, vi } from 'vitest'
import { idempotencyKey } from '../../../src/server/routes/actions/idempotency-key.ts'

const NOW = 1_800_000_000_000
const DECLARED = { id: 'a', definition: {} } as never

async function keyOf(cookie?: string, input: unknown = { name: 'Ann' }, more: object = {}) {
  const key = await idempotencyKey(
    DECLARED,
    { sentKey: 'k', input, leading: [], form: undefined } as never,
    {
      clientAddress: { address: '192.0.2.1' },
      data: undefined,
      req: { headers: cookie === undefined ? {} : { cookie } },
      ...more,
    } as never,
  )
  if (key === undefined) throw new Error('the call has no key')
  return key
}

test('a call is known by its session cookies and its input, in any order of cookies', async () => {
  const { sent } = await keyOf('__Host-session=1; other=2')
  expect((await keyOf('other=2; __Host-session=1; _ga=3')).sent).toBe(sent)
  expect((await keyOf('__Host-session=2; other=2')).sent).not.toBe(sent)
  expect((await keyOf('__Host-session=1; other=2', { name: 'Bob' })).sent).not.toBe(sent)
  expect((await keyOf()).sent).not.toBe(sent)
})

test('the form of a document counts by its address, unless a cookie could be a secret; the call of a script does not', async () => {
  const elsewhere = { clientAddress: { address: '198.51.100.7' } }
  const isSame = async (cookie: string | undefined, more: object = {}): Promise<boolean> =>
    (await keyOf(cookie, 'x', more)).sent === (await keyOf(cookie, 'x', { ...more, ...elsewhere })).sent
  expect(await isSame(undefined)).toBe(false)
  expect(await isSame('region=eu; theme=0123456789abcdef')).toBe(false)
  expect(await isSame('region=eu; sid=0123456789abcdef')).toBe(true)
  expect(await isSame(undefined, { data: {} })).toBe(true)
  expect((await keyOf(undefined, 'x')).repeated(['sid=0123456789abcdef'], NOW)).toBe(
    (await keyOf('sid=0123456789abcdef', 'x', elsewhere)).sent,
  )
})

test('the repetition of a call that started a session is known by the cookie of the answer', async () => {
  const first = await keyOf()
  const again = await keyOf('__Host-session=1')
  expect(first.repeated(['__Host-session=1; Path=/; HttpOnly'], NOW)).toBe(again.sent)
  expect(first.repeated(['__Host-session=2; Path=/'], NOW)).not.toBe(again.sent)
})

test.for([
  ['Max-Age=0', true],
  ['max-age=-1', true],
  ['Max-Age=9; Max-Age=0', true],
  ['Expires=Thu, 01 Jan 1970 00:00:00 GMT', true],
  ['expires=Thu, 01-Jan-1970 00:00:00 GMT', true],
  ['Max-Age=soon; Expires=Thu, 01 Jan 1970 00:00:00 GMT', true],
  ['Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=9', false],
  ['Max-Age=9', false],
  ['Max-Age=', false],
  ['Expires=Thu, 01 Jan 2099 00:00:00 GMT', false],
  ['Expires=never', false],
] as const)(
  'the repetition of a call that set a cookie with %s comes without it: %s',
  async ([attributes, isDeleted]) => {
    const [visitor, stranger] = [await keyOf('__Host-session='), await keyOf()]
    const repeated = visitor.repeated([`__Host-session=; Path=/; ${attributes}`], NOW)
    expect(repeated).toBe(isDeleted ? stranger.sent : visitor.sent)
  },
)

test.for(['/lang', '/theme/shop', '/csrf'])('a base path like %s makes no setting of a session', async (base) => {
  vi.stubGlobal('MILLRACE_BASE_PATH', base)
  const prefix = `__Host-${base.slice(1).replace('/', '~')}~`
  expect((await keyOf(`${prefix}session=1`)).sent).not.toBe((await keyOf(`${prefix}session=2`)).sent)
  expect((await keyOf(`${prefix}session.flash=1`)).sent).toBe((await keyOf()).sent)
})
