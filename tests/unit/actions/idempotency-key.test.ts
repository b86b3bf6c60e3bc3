import { expect, test, vi } from 'vitest'
import { idempotencyKey } from '../../../src/server/routes/actions/idempotency-key.ts'

const NOW = 1_800_000_000_000
const DECLARED = { id: 'a', definition: {} } as never

async function keyOf(cookie?: string, input: unknown = { name: 'Ann' }, more: object = {}, sentKey = 'k') {
  const key = await idempotencyKey(
    DECLARED,
    { sentKey, input, leading: [], form: undefined } as never,
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

const CHANGING =
  'AWSALB=a1;AWSALBCORS=a1;AWSALBTG=a;ARRAffinity=a;BIGipServerpool=1.2;GCLB=a;SERVERID=s1;TS01a2b3c4=x;__cf_bm=a;_cfuvid=a;' +
  'visid_incap_12=a;incap_ses_1_12=a;nlbi_12=a;ak_bmsc=a;_abck=a;_ga=a;_ga_X1Y2=a;_gid=a;_gcl_au=a;_fbp=a;_pk_id.1.fd=a;_hjSession_1=a;' +
  '_uetsid=a;_clck=a;__utma=a;__hstc=a;hubspotutk=a;ph_x_posthog=a;mp_x_mixpanel=a;utag_main=a;ajs_user_id=a;ajs_anonymous_id=a;amp_0a1b2c=a;csrftoken=a;' +
  'XSRF-TOKEN=a;_csrf=a;__Host-psifi.x-csrf-token=a;CookieConsent=a;cookieyes-consent=a;OptanonConsent=a;basket.flash=a;theme=dark;NEXT_LOCALE=de'

test('cookies of analytics, balancers, consent and settings are of no session, and all others may be of one', async () => {
  const { sent } = await keyOf('sid=1')
  for (const pair of CHANGING.split(';')) expect([pair, (await keyOf(`sid=1; ${pair}`)).sent]).toEqual([pair, sent])
  const sessions =
    '__session _oauth2_proxy _pomerium _app_session _forum_session _session_id __Secure-session MyAppThemeSession slang_sid locale_session csrf_session consent_sid ga_session _gauth JSESSIONID theme language PHPSESSID connect.sid next-auth.session-token _pk_session TSESSION flash_sid ajs_session amp_session'
  for (const name of sessions.split(' ')) {
    expect([name, (await keyOf(`sid=1; ${name}=0123456789abcdef`)).sent]).not.toEqual([name, sent])
  }
})

test('the key of the router is a secret: its call is the same whatever cookies have changed; another key of a script is not', async () => {
  const call = { data: {} }
  const own = '4294967295-1234567890-1234567-3333333'
  const keys = await Promise.all(['sid=1', 'sid=2', undefined].map((cookie) => keyOf(cookie, 'x', call, own)))
  expect(new Set(keys.map(({ sent }) => sent)).size).toBe(1)
  expect(keys[0]?.repeated(['sid=3; Path=/'], NOW)).toBe(keys[0]?.sent)
  expect((await keyOf('sid=1', 'x', call, '4294967295-1234567890-1234567-3333334')).sent).not.toBe(keys[0]?.sent)
  for (const key of ['order-1', '1', '1-2-3', '1-2-3-4', '4294967295-1234567890-1234567-33333x']) {
    expect((await keyOf('sid=1', 'x', call, key)).sent).not.toBe((await keyOf('sid=2', 'x', call, key)).sent)
  }
  // That of a document is known to whoever has the document.
  expect((await keyOf('sid=1', 'x', {}, own)).sent).not.toBe((await keyOf('sid=2', 'x', {}, own)).sent)
})

test('the form of a document counts by its address, unless a cookie could be a secret; the call of a script does not', async () => {
  const elsewhere = { clientAddress: { address: '198.51.100.7' } }
  const isSame = async (cookie: string | undefined, more: object = {}): Promise<boolean> =>
    (await keyOf(cookie, 'x', more)).sent === (await keyOf(cookie, 'x', { ...more, ...elsewhere })).sent
  expect(await isSame(undefined)).toBe(false)
  expect(await isSame('region=eu; theme=dark; _ga=0123456789abcdef')).toBe(false)
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

test('a call of the router has the key of the document’s form as well, as the browser would have sent it', async () => {
  const form = await keyOf('sid=1', 'x', {}, 'key-of-the-document')
  const { asForm } = await idempotencyKeyOfRouter('key-of-the-document')
  expect([asForm?.sent, asForm?.isOfRouter]).toEqual([form.sent, false])
  expect((await idempotencyKeyOfRouter()).asForm).toBeUndefined()
})

async function idempotencyKeyOfRouter(formKey?: string) {
  const key = await idempotencyKey(
    DECLARED,
    { sentKey: '4294967295-1234567890-1234567-3333333', formKey, input: 'x', leading: [], form: undefined } as never,
    { clientAddress: { address: '192.0.2.1' }, data: {}, req: { headers: { cookie: 'sid=1' } } } as never,
  )
  if (key === undefined) throw new Error('the call has no key')
  return key
}
