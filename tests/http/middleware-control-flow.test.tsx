import type { RequestHandler } from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import { notFound, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { tinyApp } from '../support/tiny-app.tsx'

const WAYS: Readonly<Record<string, () => never>> = {
  '/moved': () => redirect('/here', 308),
  '/gone': () => notFound(),
  '/members': () => unauthorized(),
  '/outside': () => redirect('//evil.example'),
}
const middleware: RequestHandler = (req) => {
  WAYS[req.path]?.()
  throw new Error('no way out')
}
const CASES = [
  ['/moved', 308, '/here'],
  ['/gone', 404, undefined],
  ['/members', 401, undefined],
  ['/outside', 500, undefined],
  ['/other', 500, undefined],
] as const

test.for(CASES)('%s is answered by what its middleware throws: %i', async ([path, status, location]) => {
  const { app, logs } = tinyApp({ routes: { '/[...path]': {} }, middleware: [middleware] })
  const document = await request(app).get(path)
  expect([document.status, document.headers['location']]).toEqual([status, location])
  const data = await request(app).get(`/_m/data${path}`)
  const head = JSON.parse(data.text.split('\n')[0] ?? '') as Record<string, unknown>
  if (location === undefined) expect([data.status, head['document']]).toEqual([status, true])
  else expect([data.status, head['redirect']]).toEqual([200, { to: location }])
  expect(logs.filter(({ msg }) => msg === 'uncaught failure')).toHaveLength(status === 500 ? 2 : 0)
})

test('a form that middleware redirects is answered with 303', async () => {
  const { app } = tinyApp({ routes: { '/[...path]': {} }, middleware: [middleware] })
  expect((await request(app).post('/moved').send('a=1')).status).toBe(303)
})
