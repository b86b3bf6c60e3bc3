import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BuiltServer } from '../support/built-server.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { get, lineOf, started } from './operation-server.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const VARIABLES =
  'PORT HOST ORIGIN TRUST_PROXY LOG_LEVEL SENTRY_DSN SENTRY_ENVIRONMENT SENTRY_RELEASE SENTRY_TRACES_SAMPLE_RATE ' +
  'REPORT_TUNNEL_PATH DATA_DIR REDIS_URL SECRET_KEYS METRICS_PORT WORKERS RENDER_TIMEOUT_MS ACTION_BODY_LIMIT ' +
  'SHUTDOWN_GRACE_MS SHUTDOWN_DELAY_MS MAX_PENDING_RENDERS MAX_OPEN_STREAMS'

/** Runs the server until it ends by itself. */
async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, ['dist/server/main.js', ...args], { cwd: PROJECT, env: { PATH, ...env } })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  onTestFinished(() => void child.kill('SIGKILL'))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** Waits until the server has begun to drain. */
async function draining(server: BuiltServer): Promise<void> {
  await expect.poll(async () => (await get(server, '/readyz')).status, { timeout: 5_000 }).toBe(503)
}

describe('a wrong configuration ends the start with one line and exit code 1', () => {
  test.for([
    ['MILLRACE_X', { MILLRACE_X: '1' }],
    ['PORT', { PORT: 'abc' }],
    ['SECRET_KEYS', { SECRET_KEYS: 'secret-canary' }],
    ['REPORT_TUNNEL_PATH', { REPORT_TUNNEL_PATH: '/lab/reports' }],
  ] as const)('naming %s: %j', async ([name, env]) => {
    const { code, stdout, stderr } = await run([], { PORT: '0', ...env })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(new RegExp(`^${name}: [^\n]+\n$`))
    expect(stderr).not.toContain('secret-canary')
  })

  test('a port that is taken, too', async () => {
    const { port } = await started()
    const { code, stderr } = await run([], { PORT: String(port), HOST: '127.0.0.1' })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      new RegExp(`^PORT: cannot listen on 127\\.0\\.0\\.1:${port}: [^\n]+ \\(for example PORT=[^\n]+\\)\n$`),
    )
  })
})

test('--help lists all variables and starts nothing', async () => {
  const { code, stdout, stderr } = await run(['--help'], {})
  expect(code).toBe(0)
  expect(stderr).toBe('')
  for (const name of VARIABLES.split(' ')) expect(stdout).toMatch(new RegExp(`^ +${name} +\\S+ +\\S`, 'm'))
})

test('the last line of a start names the URL, and that URL answers', async () => {
  const server = await started()
  const lines = server.stdout.filter((line) => !line.includes('"route":"/readyz"'))
  expect(lines.at(-1)).toBe(`Millrace is listening on http://localhost:${server.port}`)
  expect((await get(server, '/')).status).toBe(200)
})

test('the runtime says what its own URLs can be asked for', async () => {
  const server = await started()
  const asset = /\/_m\/assets\/[\w.-]+/.exec((await get(server, '/')).text)?.[0] ?? ''
  const methods = 'GET, HEAD, OPTIONS'
  for (const path of ['/healthz', '/readyz', '/_m/build.json', asset]) {
    const options = await requestRaw(server.port, `OPTIONS ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    expect([path, options.status, options.header('allow')]).toEqual([path, 204, methods])
    const put = await requestRaw(server.port, `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`)
    expect([path, put.status, put.header('allow')]).toEqual([path, 405, methods])
  }
  const nowhere = await requestRaw(server.port, 'OPTIONS /_m/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect(nowhere.status).toBe(404)
})

describe('a shutdown', () => {
  test('lets a document in flight finish whole, closes idle connections, and ends with 0', async () => {
    const server = await started()
    using idle = await connectRaw(server.port)
    await idle.send(getRequest('/healthz'))
    expect((await idle.response()).status).toBe(200)
    using busy = await connectRaw(server.port)
    await busy.send(getRequest('/lab/stream?delay=800', { Connection: 'close' }))
    expect((await busy.receive(12)).toString()).toBe('HTTP/1.1 200')
    server.kill('SIGTERM')
    expect(await idle.end()).toMatchObject({ how: 'fin' })
    const { how, rest } = await busy.end()
    expect(how).toBe('fin')
    expect(rest.toString()).toContain('Arrived 800 ms after the shell')
    expect(rest.toString()).toMatch(/<\/body><\/html>\r\n0\r\n\r\n$/)
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(server.logs().at(-1)).toMatchObject({ orderly: true })
  })

  test('is as orderly when the terminal is closed, whatever is sent behind that', async () => {
    const server = await started({ SHUTDOWN_DELAY_MS: '300' })
    using busy = await connectRaw(server.port)
    await busy.send(getRequest('/lab/stream?delay=800', { Connection: 'close' }))
    expect((await busy.receive(12)).toString()).toBe('HTTP/1.1 200')
    server.kill('SIGHUP')
    await draining(server)
    server.kill('SIGHUP')
    expect((await busy.end()).rest.toString()).toMatch(/<\/body><\/html>\r\n0\r\n\r\n$/)
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  test('ends event streams, which have no end of their own', async () => {
    const server = await started()
    using stream = await connectRaw(server.port)
    await stream.send(getRequest('/lab/events', { Connection: 'close' }))
    expect((await stream.receive(12)).toString()).toBe('HTTP/1.1 200')
    server.kill('SIGTERM')
    expect(await stream.end()).toMatchObject({ how: 'fin' })
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  test('does not wait for a connection that its client keeps after the last answer', async () => {
    const server = await started({ SHUTDOWN_GRACE_MS: '3000' })
    using busy = await connectRaw(server.port)
    await busy.send(getRequest('/lab/stream?delay=300'))
    expect((await busy.receive(12)).toString()).toBe('HTTP/1.1 200')
    server.kill('SIGTERM')
    expect((await busy.end()).rest.toString()).toMatch(/\r\n0\r\n\r\n$/)
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  test('cuts what is not finished in time, so that nobody takes it for whole, and ends with 1', async () => {
    const server = await started({ SHUTDOWN_GRACE_MS: '200' })
    using busy = await connectRaw(server.port)
    await busy.send(getRequest('/lab/stream?delay=5000'))
    const head = (await busy.receive(12)).toString()
    expect(head).toBe('HTTP/1.1 200')
    server.kill('SIGTERM')
    const { rest } = await busy.end()
    expect(rest.toString()).toContain('data-testid="shell"')
    expect(rest.toString()).not.toMatch(/\r\n0\r\n/)
    expect(await server.exited).toEqual({ code: 1, signal: null })
  })

  test('keeps serving for SHUTDOWN_DELAY_MS while it says that it is not ready', async () => {
    const server = await started({ SHUTDOWN_DELAY_MS: '800' })
    server.kill('SIGTERM')
    await draining(server)
    expect((await get(server, '/lab')).status).toBe(200)
    expect((await get(server, '/healthz')).status).toBe(200)
    expect((await get(server, '/readyz')).text).toBe('draining\n')
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  test('happens at once on the second signal', async () => {
    const server = await started({ SHUTDOWN_DELAY_MS: '60000', SHUTDOWN_GRACE_MS: '60000' })
    server.kill('SIGTERM')
    await draining(server)
    server.kill('SIGINT')
    expect(await server.exited).toEqual({ code: 1, signal: null })
  })
})

describe('the log', () => {
  test('has one JSON line a request, with the route and without anything that may be a secret', async () => {
    const server = await started()
    const secret = 'secret-canary'
    const answer = await get(server, `/lab/params/${secret}?token=${secret}`, {
      Cookie: `session=${secret}`,
      Authorization: `Bearer ${secret}`,
      Referer: `http://localhost/?${secret}`,
      'User-Agent': secret,
    })
    await get(server, `/${secret}?${secret}`)
    await get(server, `/%?${secret}`)
    await get(server, `/lab/crash/render?${secret}`, { Cookie: secret })
    expect(answer.status).toBe(200)
    const line = await lineOf(server, { route: '/lab/params/[id]' })
    expect(line).toEqual({
      level: 30,
      time: expect.any(Number) as number,
      requestId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      method: 'GET',
      route: '/lab/params/[id]',
      status: 200,
      durationMs: expect.any(Number) as number,
      bytes: expect.any(Number) as number,
    })
    expect(Number(line['bytes'])).toBeGreaterThan(answer.body.length)
    await lineOf(server, { route: null, status: 404 })
    await lineOf(server, { status: 400, refused: 'undecodable percent sequence' })
    await server.stop()
    const lines = server.stdout.filter((text) => !text.startsWith('Millrace is listening'))
    expect(server.logs()).toHaveLength(lines.length)
    expect(server.logs().filter(({ route }) => route === '/lab/params/[id]')).toHaveLength(1)
    expect(server.stdout.join('\n') + server.stderr()).not.toContain(secret)
  })

  test('says to which trace a request belongs, where that began elsewhere', async () => {
    const server = await started()
    const traceId = '0123456789abcdef0123456789abcdef'
    const headers = { 'sentry-trace': `${traceId}-0123456789abcdef-0` }
    await get(server, '/_m/data/lab/params/traced', headers)
    await get(server, '/lab/crash/loader', headers)
    await get(server, '/lab/params/forged', { 'sentry-trace': `${traceId}"}{-0123456789abcdef` })
    const line = await lineOf(server, { route: '/_m/data/lab/params/[id]' })
    expect(line).toMatchObject({ traceId, requestId: expect.stringMatching(/^[0-9a-f]{32}$/) as string })
    expect(line['requestId']).not.toBe(traceId)
    expect(await lineOf(server, { msg: 'uncaught failure' })).toMatchObject({ traceId })
    // Its trace has the id of the request.
    expect(await lineOf(server, { route: '/lab/params/[id]' })).not.toHaveProperty('traceId')
  })

  test('names a late failure by the digest that the page has, and only the log says more', async () => {
    const server = await started()
    const { status, text } = await get(server, '/lab/crash/late')
    expect(status).toBe(200)
    expect(text).not.toContain('on purpose')
    expect(text).not.toContain('late.server')
    const line = await lineOf(server, { msg: 'uncaught failure' })
    expect(JSON.stringify(line)).toContain('on purpose')
    expect(line['digest']).toMatch(/^[0-9a-f]{12}$/)
    expect(text).toMatch(new RegExp(`\\$RX\\("[a-p]{16}B:0","${String(line['digest'])}"`))
    const request = await lineOf(server, { route: '/lab/crash/late', status: 200 })
    expect(request['requestId']).toBe(line['requestId'])
    await server.stop()
    expect(server.logs().filter(({ level }) => level === 50)).toHaveLength(1)
  })
})

describe('assets', () => {
  test('are kept for ever, in the coding that the browser takes, and come in parts where it asks', async () => {
    const server = await started()
    const manifest = JSON.parse(await readFile(resolve(PROJECT, 'dist/manifest.json'), 'utf8')) as { entry: string }
    const { entry } = manifest
    const type = /^text\/javascript\b/

    const plain = await get(server, entry)
    expect([plain.status, plain.header('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    expect(plain.header('content-encoding')).toBeUndefined()
    expect(plain.header('content-type')).toMatch(type)
    const tags = new Set([plain.header('etag')])
    for (const encoding of ['gzip', 'br', 'zstd']) {
      const answer = await get(server, entry, { 'Accept-Encoding': encoding })
      expect(answer.header('content-encoding')).toBe(encoding)
      expect(answer.header('content-type')).toMatch(type)
      expect(answer.header('vary')).toBe('Accept-Encoding')
      expect(answer.body.length).toBeLessThan(plain.body.length)
      tags.add(answer.header('etag'))
      const tag = answer.header('etag') ?? ''
      expect((await get(server, entry, { 'Accept-Encoding': encoding, 'If-None-Match': tag })).status).toBe(304)
    }
    expect(tags.size).toBe(4)

    const part = await get(server, entry, { Range: 'bytes=2-5' })
    expect([part.status, part.text]).toEqual([206, plain.text.slice(2, 6)])
    expect(part.header('content-range')).toBe(`bytes 2-5/${plain.body.length}`)
    // RFC 9110, 14.2: a range is of GET alone.
    const asked = getRequest(entry, { Connection: 'close', Range: 'bytes=2-5' }).toString().replace('GET', 'HEAD')
    const head = await requestRaw(server.port, asked)
    expect([head.status, head.header('content-length')]).toEqual([200, String(plain.body.length)])
    expect(head.header('content-range')).toBeUndefined()
    for (const [headers, status, text] of [
      [{ Range: 'bytes=999999999-' }, 416, 'The file has no such range\n'],
      [{ 'If-Match': '"other"' }, 412, 'The file has changed\n'],
    ] as const) {
      const refused = await get(server, entry, { 'Accept-Encoding': 'br', ...headers })
      expect([refused.status, refused.header('cache-control'), refused.text]).toEqual([status, 'no-store', text])
      // It is a text of its own, and no compressed script.
      expect([refused.header('content-encoding'), refused.header('etag')]).toEqual([undefined, undefined])
      expect(refused.header('content-type')).toBe('text/plain; charset=utf-8')
    }
  })
})
