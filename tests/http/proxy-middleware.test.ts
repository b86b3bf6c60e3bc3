/** What middleware changes of a request, or adds to an answer, that a rewrite passes on to another origin. */
import { gzipSync } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import type { OutgoingHttpHeaders } from 'node:http'
import supertest from 'supertest'
import { expect, test } from 'vitest'
import { tinyApp } from '../support/tiny-app.tsx'
import { bodyOf, httpUpstream } from './proxy-setup.ts'

async function upstreamBehind(middleware: RequestHandler, answer: OutgoingHttpHeaders = {}) {
  const received: string[][] = []
  const bodies: string[] = []
  const upstream = await httpUpstream(async (req, res) => {
    bodies.push(await bodyOf(req))
    received.push(req.rawHeaders)
    res.writeHead(200, answer).end('ok')
  })
  const rewrites = [{ source: '/up/:path*', destination: `http://127.0.0.1:${upstream.port}/:path*` }]
  const { app } = tinyApp({ routes: {}, rules: { rewrites }, middleware: [middleware] })
  const dispose = () => upstream[Symbol.asyncDispose]()
  return { app, received, bodies, [Symbol.asyncDispose]: dispose }
}

test('the upstream gets headers as middleware has left them', async () => {
  await using setup = await upstreamBehind((req, _res, next) => {
    delete req.headers['x-role']
    req.headers['x-user'] = 'ann'
    req.headers['x-added'] = 'yes'
    next()
  })
  const claims = { 'X-Role': 'admin', 'X-User': 'root', 'X-Kept': 'kept', Connection: 'x-user, x-added' }
  await supertest(setup.app).get('/up/a').set(claims).expect(200)
  const lines = setup.received[0] ?? []
  const valuesOf = (name: string) => lines.filter((_, at) => at % 2 === 1 && lines[at - 1]?.toLowerCase() === name)
  expect(['x-role', 'x-user', 'x-added', 'x-kept'].map(valuesOf)).toEqual([[], ['ann'], ['yes'], ['kept']])
})

const JSON_BODY = '{"a":[1,"\u00fc"]}'
const FORM = 'application/x-www-form-urlencoded'

test.for([
  ['express.json()', express.json(), 'application/json', JSON_BODY, JSON_BODY],
  ['express.urlencoded()', express.urlencoded(), FORM, 'a=b&c=d', 'a=b&c=d'],
  ['express.raw()', express.raw({ type: '*/*' }), 'text/x', 'bytes', 'bytes'],
  ['nobody', express.json(), 'text/x', 'bytes', 'bytes'],
] as const)('the upstream gets a body that %s has read', async ([, parser, type, body, expected]) => {
  await using setup = await upstreamBehind(parser)
  await supertest(setup.app).post('/up/a').set('Content-Type', type).send(body).expect(200, 'ok')
  expect(setup.bodies.map((text) => Buffer.from(text, 'latin1').toString())).toEqual([expected])
})

test('the upstream gets a body that a parser has inflated without its coding', async () => {
  await using setup = await upstreamBehind(express.json())
  const sent = supertest(setup.app)
    .post('/up/a')
    .set({ 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
  await sent
    .serialize((bytes: unknown) => bytes as string)
    .send(gzipSync('{"a":1}'))
    .expect(200)
  expect(setup.bodies).toEqual(['{"a":1}'])
  expect(setup.received[0]?.join().toLowerCase()).not.toContain('content-encoding')
})

test('a body that middleware has read and not kept is not passed on without it', async () => {
  await using setup = await upstreamBehind((req, _res, next) => void req.resume().once('end', () => next()))
  await supertest(setup.app).post('/up/a').type('form').send('a=b').expect(500)
  expect(setup.received).toEqual([])
})

const PUBLIC = 'public, max-age=600'
const CASES = [
  [
    'a cookie of middleware, caching of the upstream',
    true,
    undefined,
    { 'Cache-Control': PUBLIC },
    'private, no-store',
  ],
  ['a cookie of middleware, nothing about caching', true, undefined, {}, 'private, no-store'],
  ['caching of middleware, a cookie of the upstream', false, PUBLIC, { 'Set-Cookie': 'a=1' }, 'private, no-store'],
  ['both of middleware', true, PUBLIC, {}, 'private, no-store'],
  ['both of the upstream', false, undefined, { 'Set-Cookie': 'a=1', 'Cache-Control': PUBLIC }, PUBLIC],
  ['no cookie', false, PUBLIC, {}, PUBLIC],
  ['a cookie, and private already', true, undefined, { 'Cache-Control': 'private' }, 'private'],
] as const

test.for(CASES)('shared caches: %s', async ([, cookie, caching, answer, expected]) => {
  await using setup = await upstreamBehind((_req, res, next) => {
    if (cookie) res.setHeader('Set-Cookie', 'session=ann')
    if (caching !== undefined) res.setHeader('Cache-Control', caching)
    next()
  }, answer)
  const { headers } = await supertest(setup.app).get('/up/a').expect(200)
  expect(headers['cache-control']).toBe(expected)
})

test.for([
  [true, {}, 'private, no-store'],
  [true, { 'Set-Cookie': 'a=1' }, 'private, no-store'],
  [false, { 'Set-Cookie': 'a=1' }, PUBLIC],
] as const)('shared caches: a cookie while the head is written %s, %o', async ([hasCookie, answer, expected]) => {
  const late: RequestHandler = (_req, res, next) => {
    const writeHead = res.writeHead.bind(res)
    res.writeHead = ((status: number) => {
      if (hasCookie) res.append('Set-Cookie', 'session=ann')
      return writeHead(status)
    }) as typeof writeHead
    next()
  }
  await using setup = await upstreamBehind(late, { 'Cache-Control': PUBLIC, ...answer })
  const { headers } = await supertest(setup.app).get('/up/a').expect(200)
  expect(headers['cache-control']).toBe(expected)
})
