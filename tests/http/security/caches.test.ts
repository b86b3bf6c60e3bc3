/** Replays G: answers that a cache in front would give to somebody else. See `README.md`. */
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connectRaw, getRequest } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { replayServer, SIGNATURE, steadyText } from '../../support/replay-server.ts'
import { serverOfTest } from '../../support/server-of-test.ts'

const site = replayServer()
const PAGE = '/lab/params/x?a=1'

/** Whether a shared cache may keep an answer (RFC 9111, section 3), for a request without `Authorization`. */
function isSharable(answer: RawResponse): boolean {
  const caching = answer.header('cache-control') ?? ''
  if (/\b(?:no-store|private)\b/.test(caching)) return false
  const keptByDefault = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].includes(answer.status)
  return keptByDefault || /\b(?:public|max-age|s-maxage)\b/.test(caching)
}

test('control: assets may be shared, and what the lab makes public', async () => {
  const [entry = ''] = /\/_m\/assets\/[\w.-]+\.js/.exec((await site.get('/')).text) ?? []
  expect(isSharable(await site.get(entry))).toBe(true)
  expect(isSharable(await site.get('/robots.txt'))).toBe(true)
})

test('G15 a Host that a visitor has made up is in no answer that caches may share', async () => {
  let shared = 0
  const files = ['/robots.txt', '/sitemap.xml', '/lab/feed.json']
  for (const target of ['/', '/lab', PAGE, ...files, '/_m/data/lab', '/_m/data/lab/shared/1', '/nope']) {
    const answer = await site.get(target, {}, 'evil.test')
    if (!isSharable(answer)) continue
    shared += 1
    expect([target, answer.text.includes('evil.test')]).toEqual([target, false])
    expect([target, JSON.stringify(answer.headers).includes('evil.test')]).toEqual([target, false])
  }
  expect(shared).toBeGreaterThan(1)
})

test('G2 other ways to ask for a page leave nothing that could stand in its place', async () => {
  const plain = await site.get(PAGE)
  const etag = plain.header('etag') ?? ''
  const ways = [
    getRequest(PAGE, { RSC: '1' }),
    getRequest(PAGE, { 'If-None-Match': etag }),
    getRequest(PAGE, { 'If-None-Match': '*' }),
    getRequest(PAGE, { 'If-Modified-Since': 'Sat, 01 Jan 2050 00:00:00 GMT' }),
    getRequest(PAGE, { Range: 'bytes=0-0' }),
    getRequest(PAGE, { 'If-Match': '"other"' }),
    getRequest(PAGE, { Expect: '100-continue' }),
    getRequest(PAGE).replace('GET', 'HEAD'),
    getRequest(PAGE).replace('GET', 'OPTIONS'),
    getRequest(PAGE).replace('GET', 'POST'),
    getRequest(PAGE).replace('GET', 'DELETE'),
  ]
  for (const bytes of ways) {
    const answer = await site.send(bytes, { head: bytes.startsWith('HEAD') })
    expect([bytes.split('\r\n')[0], isSharable(answer)]).toEqual([bytes.split('\r\n')[0], answer.status === 204])
    expect(answer.status).toBeOneOf([200, 204, 304, 405])
    if (answer.status === 200 && !bytes.startsWith('HEAD')) expect(answer.text.length).toBe(plain.text.length)
    expect(steadyText(await site.get(PAGE))).toBe(steadyText(plain))
  }
})

test('G3 a page and its data, asked for by many at once, are never taken for each other', async () => {
  // Beside other tests so many are overload at times: some are refused, and ask again.
  site.permit(503)
  const askUntilServed = async (target: string, headers: Record<string, string>): Promise<RawResponse> => {
    for (;;) {
      const answer = await site.get(target, headers)
      if (answer.status !== 503) return answer
      expect(answer.header('cache-control')).toBe('no-store')
      await setTimeout(250)
    }
  }
  const asked = Array.from({ length: 200 }, async (_, at) => {
    const isData = at % 2 === 1
    const answer = await askUntilServed(`${isData ? '/_m/data' : ''}/lab/params/p${at}`, isData ? {} : { RSC: '1' })
    expect(answer.status).toBe(200)
    expect(answer.header('content-type')).toMatch(isData ? /^application\/vnd\.millrace\.route-data/ : /^text\/html/)
    expect(answer.header('vary')).toMatch(/\bAccept-Encoding\b/)
    expect(answer.text).toContain(`p${at}`)
    expect(answer.text.startsWith(isData ? '{' : '<!DOCTYPE html>')).toBe(true)
  })
  await Promise.all(asked)
  // The tests behind this one expect an idle server: nothing is refused any more, not even a guess.
  for (let served = 0; served < 20;) {
    const { status } = await site.get(PAGE, { Purpose: 'prefetch' })
    served = status === 200 ? served + 1 : 0
    await setTimeout(50)
  }
})

test.for([
  { 'x-nextjs-data': '1' },
  { RSC: '1', 'Next-Url': '/', 'Next-Router-State-Tree': '%5B%5D' },
  { 'X-React-Router-SPA-Mode': 'yes' },
  { 'X-React-Router-Prerender-Data': '%5B%5D' },
  { 'X-SvelteKit-Action': 'true' },
  { 'X-Millrace-Build': 'another' },
  { 'X-Millrace-Once': 'abcdefgh' },
  { Accept: 'application/json' },
  { Accept: 'text/x-component' },
  { Purpose: 'prefetch' },
  { 'Sec-Purpose': 'prefetch' },
  { 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Mode': 'cors' },
  { 'X-Requested-With': 'XMLHttpRequest' },
  { Upgrade: 'websocket', Connection: 'Upgrade' },
  { Range: 'bytes=0-1' },
  { Authorization: 'Basic YTpi' },
] as const)('G5 G6 no header changes what kind of answer a URL gives: %j', async (headers) => {
  for (const target of [PAGE, '/', '/lab/redirect/temporary', '/lab/old/x', '/nope', '/robots.txt']) {
    const plain = await site.get(target)
    const kindOf = ({ status, header, text }: RawResponse) => [
      status,
      header('location'),
      header('content-type'),
      text.length,
    ]
    const asked = async () => [target, ...kindOf(await site.get(target, headers))]
    // On a machine that is busy with other things, prefetches are refused at times.
    if ('Purpose' in headers || 'Sec-Purpose' in headers) site.permit(503)
    await expect.poll(asked, { timeout: 10_000 }).toEqual([target, ...kindOf(plain)])
  }
})

test.for([
  '/?/_payload.json',
  '/?x.data',
  '/?_data=routes%2Findex',
  '/?__flight__',
  '/?_rsc=abc',
  '/?_m=x%23page',
  '/?/_m/data/',
  '/?/%2f..%2f_m%2fdata',
  '/lab?.json',
  '/lab?x=.data',
])('G9 no query makes data of a page: %s', async (target) => {
  const answer = await site.get(target)
  expect([answer.status, answer.header('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
})

test.for([
  '/.data',
  '/index.data',
  '/index.data?',
  '/_payload.json',
  '/lab.data',
  '/lab.rsc',
  '/lab.json',
  '/index.html',
])('G9 no ending does: %s', async (target) => {
  const answer = await site.get(target)
  expect([answer.status, answer.header('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
})

test('G11 forms that differ only in what was filled in are distinct, and each runs once', async () => {
  const bodies = ['name=Ann&message=one', 'name=Ann&message=two', 'name=Bob&message=one']
  for (const body of [...bodies, ...bodies]) {
    expect((await site.sign({}, `$ACTION_ONCE=one-document-0001&${body}`)).status).toBe(303)
  }
  site.expectChanges(bodies.length)
})

test('G12 no visitor gets what is another one’s', async () => {
  const tokens = Array.from({ length: 1_000 }, (_, at) => `token-${at}-${Math.imul(at + 1, 2_654_435_761) >>> 0}.`)
  const queue = tokens.values()
  const visitor = async (): Promise<void> => {
    using connection = await connectRaw(site.server.port)
    for (const token of queue) {
      const prefix = token.length % 2 === 0 ? '' : '/_m/data'
      await connection.send(getRequest(`${prefix}/lab/params/${token}?q=${token}`, { Cookie: `a=${token}` }))
      const { status, text } = await connection.response()
      expect(status).toBe(200)
      expect(new Set(text.match(/token-\d+-\d+\./g))).toEqual(new Set([token]))
    }
  }
  await Promise.all(Array.from({ length: 20 }, visitor))
  const plain = steadyText(await site.get('/'))
  expect((await site.get('/lab/redirect/temporary')).status).toBe(307)
  for (let visit = 0; visit < 100; visit += 1) expect(steadyText(await site.get('/'))).toBe(plain)
})

test('G14 failures and refusals of every kind are kept by nobody', async () => {
  site.permit(500, 503)
  const targets = [
    '/nope',
    '/lab/not-found',
    '/lab/forbidden',
    '/lab/unauthorized',
    '/lab/private',
    '/lab/crash/loader',
    '/lab/crash/render',
    `/lab/flaky/cached${Math.trunc(performance.now())}?fail=1`,
    '/%',
    '/_m/assets/none-ABCDEFGH.js',
    '/_m/none',
    '/docs/none',
  ]
  for (const target of targets) {
    for (const prefix of /^\/_m|flaky|render|docs/.test(target) ? [''] : ['', '/_m/data']) {
      const answer = await site.get(prefix + target)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect([target, answer.header('cache-control'), answer.header('etag')]).toEqual([target, 'no-store', undefined])
    }
  }
  expect((await site.post('/lab/params/x', SIGNATURE)).header('cache-control')).toBe('no-store')
})

test('G14 a document and data that die half-way are not ended as if they were whole', async () => {
  const server = await serverOfTest()
  const connections = await Promise.all(
    ['', '/_m/data'].map(async (prefix) => {
      const connection = await connectRaw(server.port)
      await connection.send(getRequest(`${prefix}/lab/stream?delay=5000`))
      expect((await connection.receive(12)).toString()).toBe('HTTP/1.1 200')
      return connection
    }),
  )
  server.kill('SIGKILL')
  for (const connection of connections) {
    expect((await connection.end()).rest.toString('latin1')).not.toMatch(/\r\n0\r\n\r\n$/)
  }
})
