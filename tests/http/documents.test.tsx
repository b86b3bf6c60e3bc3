import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Suspense, use } from 'react'
import zlib from 'node:zlib'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/loader-types.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { withServer } from '../support/listening.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'

const hello = page(() => <h1>Hello</h1>, { title: 'Hello' })
const long = page(() => <p>{'word '.repeat(2_000)}</p>)

/** A page with a hole for each of the promises that its loader returns. */
const holes = page(({ data }: { data: Record<string, Promise<string>> }) => (
  <main>
    <h1>Shell</h1>
    {Object.entries(data).map(([name, value]) => (
      <Suspense key={name} fallback={<i>waiting</i>}>
        <Hole value={value} />
      </Suspense>
    ))}
  </main>
))

function Hole({ value }: { value: Promise<string> }) {
  return <b>{use(value)}</b>
}

describe('a document with nothing to wait for', () => {
  test('is sent whole, with its length, and never stored by others', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const { headers, text } = await request(app).get('/').expect(200)
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
    expect(headers['transfer-encoding']).toBeUndefined()
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('private, no-cache')
    expect(headers['server-timing']).toMatch(/^shell;dur=\d+\.\d$/)
    expect(headers['x-powered-by']).toBeUndefined()
    expect(text).toMatch(/^<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"\/>/)
    expect(text).toContain('<title>Hello</title>')
  })

  test('has an ETag that leaves the nonce out; the answer to it is 304 without a policy', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const first = await request(app).get('/')
    const second = await request(app).get('/')
    expect(nonceOf(first)).not.toBe(nonceOf(second))
    expect(first.headers['etag']).toMatch(/^W\/"[\w-]{8,}"$/)
    expect(second.headers['etag']).toBe(first.headers['etag'])

    const known = await request(app).get('/').set('If-None-Match', `"other", ${first.headers['etag']}`).expect(304)
    expect(known.headers['content-security-policy']).toBeUndefined()
    expect(known.headers['etag']).toBe(first.headers['etag'])
    expect(known.text).toBe('')
  })

  test('has another ETag when its data are different', async () => {
    const { app } = tinyApp({
      routes: {
        '/[id]': { page: hello, loader: moduleOf({ loader: ({ params }: LoaderArgs<'/[id]'>) => params.id }) },
      },
    })
    const [one, two] = await Promise.all([request(app).get('/1'), request(app).get('/2')])
    expect(one.headers['etag']).not.toBe(two.headers['etag'])
  })

  test('answers HEAD as GET, without the body', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const [get, head] = await Promise.all([request(app).get('/'), request(app).head('/')])
    for (const name of ['content-length', 'etag', 'content-type', 'cache-control']) {
      expect(head.headers[name]).toBe(get.headers[name])
    }
    expect(head.text).toBeUndefined()
  })

  test('is the same HTML by the streaming renderer', async () => {
    const Late = () => <b>{use(soon)}</b>
    const soon = Promise.resolve('x')
    const routes = { '/': { page: page(() => <Late />) } }
    const { app } = tinyApp({ routes })
    const streamed = await request(app).get('/')
    const plain = await request(tinyApp({ routes: { '/': { page: page(() => <b>x</b>) } } }).app).get('/')
    expect(streamed.headers['transfer-encoding']).toBe('chunked')
    expect(bodyOf(streamed.text)).toBe(bodyOf(plain.text))
  })
})

describe('a document with holes', () => {
  test('sends the shell at once and each hole as it resolves, flushed through every compressor', async () => {
    for (const encoding of ['identity', 'gzip', 'br', 'zstd'] as const) {
      const gate = Promise.withResolvers<string>()
      const { app } = tinyApp({
        routes: { '/': { page: holes, loader: moduleOf({ loader: () => ({ late: gate.promise }) }) } },
      })
      await withServer(app, async (port) => {
        using connection = await connectRaw(port)
        await connection.send(getRequest('/', { 'Accept-Encoding': encoding }))
        const shell = await readUntil(connection.socket, encoding, 'Shell')
        expect(shell).toContain('waiting')
        expect(shell).not.toContain('finally')
        gate.resolve('finally')
        const rest = await readUntil(connection.socket, encoding, '</html>', shell)
        expect(rest).toContain('<b>finally')
      })
    }
  })

  test('hands every deferred value over, escaped in the late chunks too', async () => {
    const evil = '</script><script>alert(1)</script><!--\u2028'
    const { app } = tinyApp({
      routes: {
        '/': {
          page: holes,
          loader: moduleOf({ loader: () => ({ early: Promise.resolve(evil), late: wait(20, evil) }) }),
        },
      },
    })
    const { text } = await request(app).get(`/?${encodeURIComponent(evil)}=1`)
    expect(text).not.toContain('<script>alert')
    const pushes = [...text.matchAll(/\(self\.__millrace\?\?=\[\]\)\.push\((.*?)\)<\/script>/gs)].map(
      ([, chunk]) => chunk,
    )
    expect(pushes.length).toBeGreaterThan(3)
    expect(pushes.join('')).not.toMatch(/[\u2028<>]/)
    expect(pushes.join('')).toContain('alert(1)')
  })

  test('keeps a value that no component reads, and still ends as a valid document', async () => {
    const { app } = tinyApp({
      routes: { '/': { page: hello, loader: moduleOf({ loader: () => ({ unread: wait(30, 'unread-value') }) }) } },
    })
    const { text } = await request(app).get('/')
    expect(text).toContain('unread-value')
    expect(text).toMatch(/<\/script><\/body><\/html>$/)
    expect(text.match(/<\/html>/g)).toHaveLength(1)
  })

  test('carries one nonce, the one of its policy, on every script', async () => {
    const { app } = tinyApp({
      routes: { '/': { page: holes, loader: moduleOf({ loader: () => ({ late: wait(10, 'x') }) }) } },
    })
    const answer = await request(app)
      .get('/')
      .set('Content-Security-Policy', "script-src 'nonce-evil'")
      .set('X-Nonce', 'evil')
    const nonces = [...answer.text.matchAll(/<script(?! type="application\/json")[^>]*>/g)].map(([tag]) => tag)
    expect(nonces.length).toBeGreaterThan(2)
    for (const tag of nonces) expect(tag).toContain(`nonce="${nonceOf(answer)}"`)
    expect(answer.text).not.toContain('evil')
  })

  test('is given up when its time is over: the holes end with a digest, the document ends whole', async () => {
    const { app, logs } = tinyApp({
      environment: { RENDER_TIMEOUT_MS: '50' },
      routes: { '/': { page: holes, loader: moduleOf({ loader: () => ({ never: new Promise(() => undefined) }) }) } },
    })
    const { text } = await request(app).get('/').expect(200)
    expect(text).toMatch(/<\/body><\/html>$/)
    const failures = logs.filter(({ level }) => level === 50)
    expect(failures).toHaveLength(1)
    expect(text).toContain(String(failures[0]?.['digest']))
  })

  test('a client that goes away ends loaders and render, and is no failure', async () => {
    const aborted = Promise.withResolvers<unknown>()
    const { app, logs } = tinyApp({
      routes: {
        '/': {
          page: holes,
          loader: moduleOf({
            loader: ({ signal }: LoaderArgs) => ({
              late: new Promise((_resolve, reject) => {
                signal.addEventListener('abort', () => {
                  aborted.resolve(signal.reason)
                  reject(signal.reason as Error)
                })
              }),
            }),
          }),
        },
      },
    })
    await withServer(app, async (port) => {
      const connection = await connectRaw(port)
      await connection.send(getRequest('/'))
      await connection.abortAfter(200)
      expect(await aborted.promise).toMatchObject({ name: 'AbortError', cause: 'gone' })
      await expect.poll(() => logs.find(({ aborted: cut }) => cut === true)).toMatchObject({ status: 200, route: '/' })
      expect(logs.filter(({ level }) => Number(level) >= 40)).toEqual([])
    })
  })
})

describe('loaders', () => {
  test('of all matched segments start together, and their times are told', async () => {
    const order: string[] = []
    const slow = (name: string) =>
      moduleOf({
        loader: async () => {
          order.push(`${name} starts`)
          await wait(20)
          order.push(`${name} ends`)
        },
      })
    const layout = moduleOf({ default: (({ children }: { children: unknown }) => children) as never })
    const { app } = tinyApp({
      routes: { '/': { layout, layoutLoader: slow('root') }, '/a': { page: hello, loader: slow('page') } },
    })
    const { headers } = await request(app).get('/a')
    expect(order.slice(0, 2)).toEqual(['root starts', 'page starts'])
    expect(headers['server-timing']).toMatch(
      /loader;desc="\/#layout";dur=\d.*loader;desc="\/a#page";dur=\d.*shell;dur=/,
    )
  })

  test('that ignore their signal do not hold the answer back for ever', async () => {
    const { app, logs } = tinyApp({
      environment: { RENDER_TIMEOUT_MS: '50' },
      routes: {
        '/': fallbacks('root'),
        '/a': { page: hello, loader: moduleOf({ loader: () => new Promise(() => undefined) }) },
      },
    })
    const { text } = await request(app).get('/a').expect(500)
    expect(text).toContain('root error server')
    expect(logs.filter(({ level }) => level === 50)).toHaveLength(1)
  })

  test('set headers of the answer; a cookie makes it private', async () => {
    const { app } = tinyApp({
      routes: {
        '/public': {
          page: hello,
          loader: moduleOf({
            loader: ({ context }: LoaderArgs) => void context.headers.set('Cache-Control', 'public, max-age=60'),
          }),
        },
        '/cookie': {
          page: hello,
          loader: moduleOf({
            loader({ context }: LoaderArgs) {
              context.headers.set('Cache-Control', 'public, max-age=60')
              context.headers.append('Set-Cookie', 'a=1')
              context.headers.append('Set-Cookie', 'b=2')
            },
          }),
        },
      },
    })
    const open = await request(app).get('/public')
    expect(open.headers['cache-control']).toBe('public, max-age=60')
    expect(open.headers['content-security-policy']).not.toContain('nonce')
    const cookie = await request(app).get('/cookie')
    expect(cookie.headers['cache-control']).toBe('private, no-store')
    expect(cookie.headers['set-cookie']).toEqual(['a=1', 'b=2'])
  })

  test('get params decoded once and search by schema; what the schema refuses is a 400 that names it', async () => {
    const seen: unknown[] = []
    const { app } = tinyApp({
      routes: {
        '/p/[id]': {
          page: hello,
          loader: moduleOf({
            search: z.object({ n: z.coerce.number().int().default(7) }),
            loader: ({ params, search }: LoaderArgs<'/p/[id]'>) => void seen.push({ ...params }, search),
          }),
        },
      },
    })
    await request(app).get('/p/a%20b%252F?n=3&id=query').expect(200)
    await request(app).get('/p/x').expect(200)
    expect(seen).toEqual([{ id: 'a b%2F' }, { n: 3 }, { id: 'x' }, { n: 7 }])
    const refused = await request(app).get('/p/x?n=%3Cscript%3E').expect(400)
    expect(refused.text).toContain('n: ')
    expect(refused.headers['cache-control']).toBe('no-store')
  })
})

describe('methods', () => {
  const { app } = tinyApp({
    routes: {
      '/': { ...fallbacks('root'), page: hello },
      '/feed': {
        handler: moduleOf({
          GET: () => Response.json({ ok: true }),
          POST: async ({ request: sent }: LoaderArgs) => new Response(await sent.text(), { status: 201 }),
          constructor: () => new Response('never'),
        }),
      },
    },
  })

  test('that a page has no use for get 405 with Allow; OPTIONS gets 204', async () => {
    for (const method of ['post', 'put', 'patch', 'delete'] as const) {
      const answer = await request(app)[method]('/').expect(405)
      expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS')
    }
    const options = await request(app).options('/').expect(204)
    expect(options.headers['allow']).toBe('GET, HEAD, OPTIONS')
  })

  test('of a resource route are those that it exports', async () => {
    expect((await request(app).get('/feed').expect(200)).body).toEqual({ ok: true })
    expect((await request(app).post('/feed').type('text').send('sent').expect(201)).text).toBe('sent')
    await request(app).head('/feed').expect(200)
    const refused = await request(app).delete('/feed').expect(405)
    expect(refused.headers['allow']).toBe('GET, POST, HEAD, OPTIONS')
    await withServer(app, async (port) => {
      const answer = await requestRaw(port, 'constructor /feed HTTP/1.1\r\nHost: a\r\n\r\n')
      expect(answer.status).toBe(400)
    })
  })
})

describe('compression', () => {
  test.for([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, br, zstd', 'zstd'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['zstd;q=0, *', 'br'],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['identity, gzip;q=0.5', undefined],
    [`gzip,${'x'.repeat(5_000)}`, undefined],
  ] as const)('%s gives %s', async ([accept, expected]) => {
    const { app } = tinyApp({ routes: { '/': { page: long } } })
    await withServer(app, async (port) => {
      const answer = await requestRaw(port, getRequest('/', { 'Accept-Encoding': accept }))
      expect(answer.header('content-encoding')).toBe(expected)
      expect(answer.header('vary')).toBe('Accept-Encoding')
      expect(answer.header('content-length')).toBe(String(answer.body.length))
      expect(decompress(answer.body, expected)).toContain('word word')
    })
  })

  test('leaves small answers alone', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const answer = await request(app).get('/').set('Accept-Encoding', 'gzip')
    expect(answer.headers['content-encoding']).toBeUndefined()
  })
})

describe('admission', () => {
  test('refuses documents beyond the bound with 503, at once, and never health', async () => {
    const gate = Promise.withResolvers<void>()
    const { app } = tinyApp({
      environment: { MAX_PENDING_RENDERS: '1' },
      routes: { '/slow': { page: hello, loader: moduleOf({ loader: () => gate.promise }) }, '/': { page: hello } },
    })
    await withServer(app, async (port) => {
      const first = requestRaw(port, getRequest('/slow'))
      await expect.poll(async () => (await requestRaw(port, getRequest('/'))).status).toBe(503)
      const refused = await requestRaw(port, getRequest('/'))
      expect(refused.header('retry-after')).toBe('1')
      expect((await requestRaw(port, getRequest('/healthz'))).status).toBe(200)
      gate.resolve()
      expect((await first).status).toBe(200)
      await expect.poll(async () => (await requestRaw(port, getRequest('/'))).status).toBe(200)
    })
  })
})

function nonceOf(answer: { headers: Record<string, string> }): string {
  return /'nonce-([^']+)'/.exec(answer.headers['content-security-policy'] ?? '')?.[1] ?? ''
}

function bodyOf(html: string): string {
  return createHash('sha256')
    .update(/<body>(.*?)<script/s.exec(html)?.[1] ?? html)
    .digest('hex')
}

function decompress(body: Buffer, encoding: string | undefined): string {
  if (encoding === 'gzip') return zlib.gunzipSync(body).toString()
  if (encoding === 'br') return zlib.brotliDecompressSync(body).toString()
  if (encoding === 'zstd') return zlib.zstdDecompressSync(body).toString()
  return body.toString()
}

/** Reads and decodes a chunked answer until the decoded text holds a mark. */
async function readUntil(
  socket: import('node:net').Socket,
  encoding: string,
  mark: string,
  before = '',
): Promise<string> {
  const kept = (socket as { received?: Buffer }).received ?? Buffer.alloc(0)
  let raw = kept
  for (;;) {
    const text = decodePartial(raw, encoding)
    if (text.includes(mark) && text.length > before.length) {
      ;(socket as { received?: Buffer }).received = raw
      return text
    }
    const piece = await new Promise<Buffer>((resolve, reject) => {
      socket.once('data', resolve)
      socket.once('end', () => reject(new Error(`The answer ended before "${mark}":\n${text}`)))
      socket.resume()
    })
    raw = Buffer.concat([raw, piece])
  }
}

function decodePartial(raw: Buffer, encoding: string): string {
  const headEnd = raw.indexOf('\r\n\r\n')
  if (headEnd === -1) return ''
  const pieces: Buffer[] = []
  let at = headEnd + 4
  for (;;) {
    const lineEnd = raw.indexOf('\r\n', at)
    if (lineEnd === -1) break
    const size = Number.parseInt(raw.toString('latin1', at, lineEnd), 16)
    if (size === 0 || lineEnd + 2 + size > raw.length) break
    pieces.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  const body = Buffer.concat(pieces)
  const { constants } = zlib
  if (body.length === 0) return ''
  if (encoding === 'gzip') return zlib.gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
  if (encoding === 'br') {
    return zlib.brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH }).toString()
  }
  if (encoding === 'zstd') return zlib.zstdDecompressSync(body, { finishFlush: constants.ZSTD_e_flush }).toString()
  return body.toString()
}
