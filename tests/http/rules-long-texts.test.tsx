/** A rule's expression may cost only so much, and a text that it is not asked about gets past no rule. */
import request from 'supertest'
import { expect, test } from 'vitest'
import { page, tinyApp } from '../support/tiny-app.tsx'

const EXPENSIVE = '.*[a-z]{1,300}[0-9]'
const to = { source: '/:path*', destination: '/refused', permanent: false }

function site(rule: object) {
  const routes = { '/': { page: page(() => <p>open</p>) }, '/[...rest]': { page: page(() => <p>open</p>) } }
  return tinyApp({ routes: routes as never, rules: { redirects: [{ ...to, ...rule }] } as never })
}

const long = 'a'.repeat(4_000)
const header = (field: 'has' | 'missing') => ({ [field]: [{ type: 'header', key: 'X-Kind', value: EXPENSIVE }] })

test.for([
  ['a header', header('has'), '/', { 'X-Kind': long }, 431],
  ['a header that must be missing', header('missing'), '/', { 'X-Kind': long }, 431],
  ['the data of a page', header('has'), '/_m/data/', { 'X-Kind': long }, 431],
  ['a cookie', { has: [{ type: 'cookie', key: 'kind', value: EXPENSIVE }] }, '/', { Cookie: `kind=${long}` }, 431],
  ['the query', { has: [{ type: 'query', key: 'kind', value: EXPENSIVE }] }, `/?kind=${long}`, {}, 414],
  ['the path', { source: `/:name(${EXPENSIVE})` }, `/${long}`, {}, 414],
] as const)('%s that is too long for an expression is refused', async ([, rule, url, headers, status]) => {
  const { app, logs } = site(rule)
  const answer = await request(app).get(url).set(headers)
  expect(answer.status).toBe(status)
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(JSON.stringify(logs)).toContain('source' in rule ? `/:name(` : '/:path*')
})

test('shorter texts are matched, and so are all texts by a small expression', async () => {
  const { app } = site(header('has'))
  expect((await request(app).get('/').set('X-Kind', 'abc1')).status).toBe(307)
  expect((await request(app).get('/').set('X-Kind', 'abc')).status).toBe(200)
  const small = site({ has: [{ type: 'header', key: 'User-Agent', value: '.*bot.*' }] }).app
  const agent = 'a'.repeat(14_000)
  expect((await request(small).get('/').set('User-Agent', agent)).status).toBe(200)
  expect((await request(small).get('/').set('User-Agent', `${agent}bot`)).status).toBe(307)
})

test('a text that no rule for the path asks about may be as long as it likes', async () => {
  const { app } = site({ source: '/elsewhere', ...header('has') })
  expect((await request(app).get('/').set('X-Kind', long)).status).toBe(200)
})
