import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { getData } from '../support/route-data.ts'
import { fallbacks, page, tinyApp } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)
const head = (more: object) => ({ v: 1, ...more })

describe('URLs that look like those of data', () => {
  const build = 'development'
  const { app } = tinyApp({
    routes: { '/': { ...fallbacks('root'), page: hello }, '/base': { page: hello }, '/a/[[...rest]]': { page: hello } },
  })

  test.for([
    ['/_m/database', 404, 'text/plain; charset=utf-8'],
    ['/_m/datax/', 308, undefined],
    ['/_m/Data/', 308, undefined],
    ['/_M/data', 404, 'text/html; charset=utf-8'],
    ['/x/../_m/data/a', 404, 'text/html; charset=utf-8'],
    ['/_m%2Fdata/a', 404, 'text/html; charset=utf-8'],
    ['/_m/%64ata/a', 404, 'text/plain; charset=utf-8'],
  ] as const)('%s is none', async ([path, status, type]) => {
    const answer = await getData(app, path)
    expect([answer.status, answer.header('content-type')]).toEqual([status, type])
  })

  test.for([
    ['//', '/'],
    ['//a', '/a'],
    ['/a/', '/a'],
    ['/a/?x=1', '/a?x=1'],
    ['/a//b///?x=1', '/a/b?x=1'],
    ['/a\\b', '/a/b'],
    ['//good.test/a', '/good.test/a'],
    ['/a/b%2F/', '/a/b%2F'],
  ] as const)('data of %s is a redirect to the tidy path, as its document is', async ([path, to]) => {
    const { status, records } = await getData(app, `/_m/data${path}`)
    // As a record: a 3xx would be followed by fetch.
    expect([status, records]).toEqual([200, [head({ build, redirect: { to } }), { done: true }]])
    const document = await getData(app, path)
    expect([document.status, document.header('location')]).toEqual([308, to])
  })

  test('data of an untidy path keeps nothing that the runtime has added to the URL, and is never cached', async () => {
    const { records, header } = await getData(app, '/_m/data/a/?x=1&_m=%2F%23page&y')
    expect(records).toEqual([head({ build, redirect: { to: '/a?x=1&y' } }), { done: true }])
    expect(header('cache-control')).toBe('private, no-store')
  })

  test('data of an untidy path is refused to another build, as any is', async () => {
    expect((await getData(app, '/_m/data/a/', { 'X-Millrace-Build': 'other' })).status).toBe(409)
  })

  test.for([
    ['/_m/data\\a', '/_m/data/a'],
    ['//_m/data/a', '/_m/data/a'],
    ['/_m/data/x/../a/', '/_m/data/x/../a'],
    ['/_m/data/../_m/build.json/', '/_m/data/../_m/build.json'],
  ] as const)('%s, which no client asks for, leads to its tidy form', async ([path, location]) => {
    const answer = await getData(app, path)
    expect([answer.status, answer.header('location')]).toEqual([308, location])
  })

  test('a call to an untidy path is not run', async () => {
    const answer = await request(app).post('/_m/data/a/?_action=abc.1').send('x=1')
    expect([answer.status, answer.headers['location']]).toEqual([308, '/_m/data/a?_action=abc.1'])
  })

  test('an encoded slash is data of the param, not a border', async () => {
    const { records } = await getData(app, '/_m/data/a/x%2F..%2Fy/z')
    expect(records[0]).toMatchObject({ route: '/a/[[...rest]]', params: { rest: ['x/../y', 'z'] } })
  })

  test('are refused beyond 8 KiB', async () => {
    const answer = await getData(app, `/_m/data/a/${'x'.repeat(8_192)}`)
    expect([answer.status, answer.header('x-millrace-build')]).toEqual([414, 'development'])
  })
})
