/** What middleware changes of a request, or adds to an answer, that a rewrite passes on to another origin. */
import type { RequestHandler } from 'express'
import type { OutgoingHttpHeaders } from 'node:http'
import supertest from 'supertest'
import { expect, test } from 'vitest'
import { tinyApp } from '../support/tiny-app.tsx'
import { bodyOf, httpUpstream } from './proxy-setup.ts'

async function upstreamBehind(middleware: RequestHandler, answer: OutgoingHttpHeaders = {}) {
  const received: string[][] = []
  const upstream = await httpUpstream(async (req, res) => {
    await bodyOf(req)
    received.push(req.rawHeaders)
    res.writeHead(200, answer).end('ok')
  })
  const rewrites = [{ source: '/up/:path*', destination: `http://127.0.0.1:${upstream.port}/:path*` }]
  const { app } = tinyApp({ routes: {}, rules: { rewrites }, middleware: [middleware] })
  const dispose = () => upstream[Symbol.asyncDispose]()
  return { app, received, [Symbol.asyncDispose]: dispose }
}

test('the upstream gets headers as middleware has left them', async () => {
  await using setup = await upstreamBehind((req, _res, next) => {
    delete req.headers['x-role']
    req.headers['x-user'] = 'ann'
    req.headers['x-added'] = 'yes'
    next()
  })
  const claims = { 'X-Role': 'admin', 'X-User': 'root', 'X-Kept': 'kept' }
  await supertest(setup.app).get('/up/a').set(claims).expect(200)
  const lines = setup.received[0] ?? []
  const valuesOf = (name: string) => lines.filter((_, at) => at % 2 === 1 && lines[at - 1]?.toLowerCase() === name)
  expect(['x-role', 'x-user', 'x-added', 'x-kept'].map(valuesOf)).toEqual([[], ['ann'], ['yes'], ['kept']])
})
