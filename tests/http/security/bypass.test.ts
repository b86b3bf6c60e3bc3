/**
 * Replays of published faults of other servers, reduced to one input for ours: guards that another header, URL or
 * spelling leads past. Titles begin with the row of `README.md`, which also says which rows are replayed where.
 */
import { expect, test } from 'vitest'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { replayServer, SIGN, SIGNATURE } from '../../support/replay-server.ts'

const site = replayServer()
const GUARDED = '/lab/private'
const SIGN_IN = actionId('lab/session/actions.server.ts', 'signIn')

/** Somebody whom the guard lets through. */
async function adminCookie(): Promise<string> {
  const answer = await site.post(`/lab/session?_action=${SIGN_IN}.1`, 'role=admin')
  expect(answer.status).toBe(303)
  const cookie = answer.headers.find(
    ([name, value]) => name.toLowerCase() === 'set-cookie' && value.startsWith('__Host-lab='),
  )
  return cookie?.[1].split(';')[0] ?? ''
}

test('control: the guard lets an admin in, and nobody else', async () => {
  const open = await site.get(GUARDED, { Cookie: await adminCookie() })
  expect(open.status).toBe(200)
  expect(open.text).toContain('data-testid="private"')
  expect((await site.get(GUARDED)).status).toBe(401)
})

test('control: a signature as forms send it is taken, and counted', async () => {
  expect((await site.sign()).status).toBe(303)
  expect((await site.sign({ 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' })).status).toBe(303)
  site.expectChanges(2)
})

test.for([
  ['x-middleware-subrequest', 'middleware:middleware:middleware:middleware:middleware'],
  ['x-middleware-subrequest', 'src/middleware:src/middleware:src/middleware:src/middleware:src/middleware'],
  ['x-middleware-rewrite', '/lab'],
  ['x-middleware-next', '1'],
  ['x-middleware-override-headers', 'cookie'],
  ['x-nextjs-data', '1'],
  ['x-nextjs-rewrite', '/lab'],
  ['x-invoke-path', '/lab'],
  ['x-invoke-status', '200'],
  ['x-millrace-build', 'development'],
  ['x-millrace-internal', '1'],
  ['x-sveltekit-invalidated', '1'],
  ['x-original-url', '/lab'],
  ['x-rewrite-url', '/lab'],
  ['x-http-method-override', 'HEAD'],
] as const)('A1 internal header %s: %s opens no guard', async ([name, value]) => {
  const answer = await site.get(GUARDED, { [name]: value })
  expect(answer.status).toBe(401)
  expect(answer.text).toContain('data-testid="fallback"')
  expect(answer.headers.some(([header]) => header.toLowerCase() === name)).toBe(false)
  expect((await site.get(`/_m/data${GUARDED}`, { [name]: value })).status).toBeOneOf([401, 409])
})

test.for([
  [`/_m/data${GUARDED}`, 401],
  [`/_m/data${GUARDED}?_m=%2F(site)%2Flab%2Fprivate%23page`, 401],
  [`${GUARDED}?_data=root`, 401],
  [`${GUARDED}?_rsc=1`, 401],
  [`${GUARDED}?__flight__=1`, 401],
  [`${GUARDED}.rsc`, 404],
  [`${GUARDED}.data`, 404],
  [`${GUARDED}.json`, 404],
  [`${GUARDED}/__data.json`, 404],
  [`${GUARDED}/_payload.json`, 404],
  [`/_next/data/build${GUARDED}.json`, 404],
] as const)('A4 data and prefetch variants meet the guard: %s', async ([target, status]) => {
  const variants = [
    {},
    { Purpose: 'prefetch' },
    { 'Sec-Purpose': 'prefetch;prerender' },
    { RSC: '1', 'Next-Router-Prefetch': '1' },
    { Accept: 'application/vnd.millrace.route-data' },
  ]
  for (const headers of variants) {
    const answer = await site.get(target, headers)
    expect([headers, answer.status]).toEqual([headers, status])
    expect(answer.text).not.toContain('"role"')
  }
})

test.for(['?_m=', '?_m=%2F(site)%2Flab%23layout', '?_m=%2F%23layout&_m=%2F(site)%2Flab%23layout'])(
  'A4 data of other segments of a guarded page brings nothing of the page itself: %s',
  async (query) => {
    const answer = await site.get(`/_m/data${GUARDED}${query}`)
    expect(answer.status).toBeOneOf([200, 400])
    expect(answer.text).not.toMatch(/"role"|private#page/)
  },
)

test.for([
  [`/_m/data/en${GUARDED}`, 404],
  [`/_m/data/xx-XX${GUARDED}`, 404],
  [`/en${GUARDED}`, 404],
  [`/_m/data/_m/data${GUARDED}`, 404],
  [`/_m/DATA/lab/private`, 404],
  [`/_m%2fdata/lab/private`, 404],
  [`/%5fm/data/lab/private`, 404],
] as const)('A5 data URL with other prefixes: %s', async ([target, status]) => {
  const answer = await site.get(target)
  expect(answer.status).toBe(status)
})

test.for([
  `/_m/data//lab/private`,
  `/_m/data/lab/private/`,
  `/_m/data/lab//private//?_m=%2F(site)%2Flab%2Fprivate%23page`,
])('A5 data URL of an untidy path says where the tidy one is, and nothing else: %s', async (target) => {
  const answer = await site.get(target)
  expect(answer.status).toBe(200)
  const [head, ...others] = answer.text.trim().split('\n')
  expect(JSON.parse(head ?? '')).toEqual({
    v: expect.any(Number),
    build: expect.any(String),
    redirect: { to: GUARDED },
  })
  expect(others).toEqual(['{"done":true}'])
})

test.for(['/lab/%2570rivate', '/%256cab/private', '/lab/%25%37%30rivate', '/lab/%252570rivate', '/lab%252fprivate'])(
  'A7 double-encoded path: %s',
  async (target) => {
    expect((await site.get(target)).status).toBe(404)
    expect((await site.get(`/_m/data${target}`)).status).toBe(404)
  },
)

test.for([
  'localhost:3000/abchehe?',
  'localhost/lab',
  'localhost#',
  'localhost?',
  'x@evil.test',
  'evil.test,good.test',
  'evil.test\\lab',
  'local host',
  'localhost:99999',
  'localhost:port',
  'localhost:',
  '[::1',
  '::1',
  '[::1]]',
  'a..b',
  '.localhost',
  '%6cocalhost',
  'localhost\t/lab',
  '',
])('A8 Host that would move the path: %j', async (host) => {
  const answer = await site.get(GUARDED, {}, host)
  expect(answer.status).toBe(400)
  const open = await site.get('/lab/params/x', {}, host)
  expect(open.status).toBe(400)
})

test.for([
  '/lab%2fprivate',
  '/lab%2Fprivate',
  '//lab/private',
  '/lab//private',
  '/lab%5cprivate',
  '/lab\\private',
  '\\lab\\private',
  '/lab/private/',
  '/lab/private//',
  '/lab/private%2f',
  '/lab/./private',
  '/lab/%2e/private',
  '/lab/params/../private',
  '/lab/params/%2e%2e/private',
  '/lab/params/.%2e/private',
  '/lab/params/..;/private',
  '/./lab/private',
  '/lab/private;a=b',
  '/lab/private%00',
  '/lab/private%09',
  '/lab/private%20',
  '/lab/private ',
  '/lab/private.',
  '/lab/private%2e',
  '/lab/private?',
  '/lab/private#',
  '/LAB/PRIVATE',
  '/lab/priv%C4%B1ate',
  '/lab/private%E2%80%8B',
  '/lab/%u0070rivate',
  '/lab/%c0%afprivate',
])('A10 other spellings of a guarded path have its verdict or none: %j', async (target) => {
  for (const prefix of ['', '/_m/data']) {
    const answer = await site.get(prefix + target)
    expect(answer.status).toBeOneOf([prefix === '' ? 308 : 200, 308, 400, 401, 404])
    if (answer.status === 308) expect(answer.header('location')).toBe(prefix + GUARDED)
    if (answer.status === 200) expect(answer.text).toContain(`"redirect":{"to":"${GUARDED}"}`)
  }
})

test('A10 an encoded slash is data: it makes a param and never another path', async () => {
  for (const target of ['/lab/params/..%2fprivate', '/lab/params/%2fprivate', '/lab/files/..%2f..%2flab%2fprivate']) {
    const answer = await site.get(target)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('data-testid="params"')
    expect(answer.text).not.toContain('data-testid="private"')
  }
})

test.for([
  'application/json\t;x',
  'application/json;',
  'APPLICATION/JSON ; charset=x',
  'application/json; charset=utf-8; charset=latin1',
  'application/json, text/plain',
  'application/jsonx',
  'application/ json',
  ' application/json',
  'text/json',
  'application/x-www-form-urlencoded;charset=utf-7',
  'application/x-www-form-urlencoded\u00a0',
  'application/x-www-form-urlencodedx',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary="a',
  'multipart/mixed; boundary=a',
  '',
])('A11 Content-Type %j leads past no validation', async (type) => {
  const bodies = ['{"input":{"name":"","message":""}}', '{"args":[],"input":null}', 'name=&message=', '--a--', '']
  for (const body of bodies) {
    const byForm = await site.sign({ 'Content-Type': type }, body)
    expect(byForm.status).toBeOneOf([400, 415, 422])
    const byScript = await site.post(`/_m/data/lab/guestbook?_action=${SIGN}`, body, { 'Content-Type': type })
    expect(byScript.status).toBeOneOf([400, 415, 422])
  }
})

test('A11 no Content-Type at all is 415, and valid JSON is no form', async () => {
  const body = JSON.stringify({ input: { name: 'Ann', message: 'hello' } })
  const head = `Host: localhost\r\nContent-Length: ${body.length}\r\n\r\n`
  for (const target of [`/lab/guestbook?_action=${SIGN}.1`, `/_m/data/lab/guestbook?_action=${SIGN}`]) {
    expect((await site.send(`POST ${target} HTTP/1.1\r\n${head}${body}`)).status).toBe(415)
  }
  expect((await site.sign({ 'Content-Type': 'application/json' }, body)).status).toBe(415)
})

const NAMES = ['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'then']

test.for(NAMES)('A14 %s is no action, route, segment or file', async (name) => {
  for (const id of [name, `${name}.1`, `${encodeURIComponent(name)}.`, `${name}.${name}`]) {
    expect((await site.post(`/lab/guestbook?_action=${id}`, SIGNATURE)).status).toBe(404)
    expect((await site.post(`/_m/data/lab/guestbook?_action=${id}`, SIGNATURE)).status).toBe(404)
  }
  const named = `$ACTION_ID=${name}&${SIGNATURE}`
  expect((await site.post('/lab/guestbook', named)).status).toBe(404)
  expect((await site.get(`/lab/${name}`)).status).toBe(404)
  expect((await site.get(`/${name}`)).status).toBe(404)
  expect((await site.get(`/_m/assets/${name}`)).status).toBe(404)
  expect((await site.get(`/_m/${name}`)).status).toBe(404)
  expect((await site.get(`/docs/${name}`)).status).toBe(404)
  expect((await site.get(`/_m/data/lab/params/x?_m=${name}`)).status).toBe(400)
  expect((await site.get(`/_m/data/lab/params/x?_m=${name}%23page`)).status).toBe(400)
})

test.for(NAMES)('A14 %s is a param and a query like any other', async (name) => {
  const page = await site.get(`/lab/params/${name}?${name}=1&${name}[x]=2`)
  expect(page.status).toBe(200)
  expect(page.text).toContain(`{&quot;id&quot;:&quot;${name}&quot;}`)
  const data = await site.get(`/_m/data/lab/filters/${name}/${name}?${name}=1`)
  expect(data.status).toBe(200)
  expect(data.text).toContain(`"filters":["${name}","${name}"]`)
})

test.for(NAMES)('A14 %s is a field like any other: refused by the schema, not found on a prototype', async (name) => {
  for (const field of [name, `${name}.polluted`, `name.${name}`, `name[${name}]`, `${name}[]`]) {
    const answer = await site.sign({}, `${encodeURIComponent(field)}=1`)
    expect(answer.status).toBeOneOf([400, 422])
  }
  const json = `{"input":{"${name}":{"name":"Ann","message":"hello"}}}`
  const called = await site.post(`/_m/data/lab/guestbook?_action=${SIGN}`, json, { 'Content-Type': 'application/json' })
  expect(called.status).toBeOneOf([400, 422])
})

test('A16 rules and guards meet the path decoded', async () => {
  const redirected = await site.get('/lab/%6fld/7')
  expect([redirected.status, redirected.header('location')]).toEqual([308, '/lab/params/7'])
  const rewritten = await site.get('/%6cab/alia%73/7')
  expect(rewritten.status).toBe(200)
  expect(rewritten.text).toContain('{&quot;id&quot;:&quot;7&quot;}')
  expect((await site.get('/lab/%70rivate')).status).toBe(401)
  expect((await site.get('/_m/data/lab/%70rivate')).status).toBe(401)
  expect((await site.get('/lab/cras%68/client')).header('x-robots-tag')).toBe('noindex')
})
