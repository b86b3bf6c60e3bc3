/** What Express routers and applications among the middleware are told of a request by Express' own names. */
import express, { Router, type Request, type RequestHandler } from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import { tinyApp } from '../support/tiny-app.tsx'

const PROXIES = { TRUST_PROXY: '127.0.0.0/8,::1,::ffff:127.0.0.1' }
const FORWARDED = {
  Host: 'inside.test',
  'X-Forwarded-For': '6.6.6.6, 203.0.113.9',
  'X-Forwarded-Proto': 'x:admin, https',
  'X-Forwarded-Host': 'evil.test, www.shop.test:8443',
}
const CLIENT = {
  ip: '203.0.113.9',
  protocol: 'https',
  secure: true,
  host: 'www.shop.test:8443',
  hostname: 'www.shop.test',
}
const PEER = { protocol: 'http', secure: false, host: 'inside.test', hostname: 'inside.test' }

const tell: RequestHandler = (req, res) => {
  const { ip, protocol, secure, host, hostname, subdomains, query } = req
  res.json({ ip, protocol, secure, host, hostname, subdomains, query })
}

function site(environment: Readonly<Record<string, string>>) {
  const own = express().set('trust proxy', (_address: string, hop: number) => hop < 2)
  const middleware = [
    Router().get('/router', tell),
    Router().use('/nested', Router().get('/inner', tell)),
    express().get('/application', tell),
    own.get('/trusting', tell),
  ]
  return tinyApp({ routes: {}, middleware, environment } as never).app
}

const told = async (
  app: ReturnType<typeof site>,
  path: string,
  headers: Readonly<Record<string, string>> = FORWARDED,
) => (await request(app).get(path).set(headers).expect(200)).body as Pick<Request, 'ip' | 'query' | 'host'>

test.each(['/router', '/nested/inner', '/application'])('%s is told the client behind our proxies', async (path) => {
  expect(await told(site(PROXIES), path)).toMatchObject({ ...CLIENT, subdomains: ['www'] })
  expect(await told(site(PROXIES), path, { Host: 'inside.test' })).toMatchObject(PEER)
})

test.each(['/router', '/nested/inner', '/application'])('%s believes no header of a stranger', async (path) => {
  const answer = await told(site({}), path)
  expect(answer).toMatchObject(PEER)
  expect(answer.ip).toMatch(/127\.0\.0\.1$/)
})

test('an application that trusts proxies of its own does so', async () => {
  const answer = await told(site({}), '/trusting')
  expect([answer.ip, answer.host]).toEqual(['6.6.6.6', 'evil.test'])
})

test('visitors use https where ORIGIN says so', async () => {
  const answer = await told(site({ ORIGIN: 'https://inside.test' }), '/router', { Host: 'inside.test' })
  expect(answer).toMatchObject({ ...PEER, protocol: 'https', secure: true })
})

test.each(['/router', '/nested/inner', '/application'])('%s gets the query', async (path) => {
  expect((await told(site({}), `${path}?page=2&tag=a&tag=b`)).query).toEqual({ page: '2', tag: ['a', 'b'] })
})
