import { setTimeout as wait } from 'node:timers/promises'
import { Suspense, use } from 'react'
import zlib from 'node:zlib'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { notFound } from '../../src/shared/control-flow.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { portOf } from '../support/listening.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { connectRaw, getRequest } from '../support/raw-http.ts'

const hello = page(() => <h1>Hello</h1>, { title: 'Hello' })

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

describe('a document with holes', () => {
  test('sends the shell at once and each hole as it resolves, flushed through every compressor', async () => {
    for (const encoding of ['identity', 'gzip', 'br', 'zstd'] as const) {
      const gate = Promise.withResolvers<string>()
      const { app } = tinyApp({
        routes: { '/': { page: holes, loader: moduleOf({ loader: () => ({ late: gate.promise }) }) } },
      })
      const port = await portOf(app)
      using connection = await connectRaw(port)
      await connection.send(getRequest('/', { 'Accept-Encoding': encoding }))
      const shell = await readUntil(connection.socket, encoding, 'Shell')
      expect(shell).toContain('waiting')
      expect(shell).not.toContain('finally')
      gate.resolve('finally')
      const rest = await readUntil(connection.socket, encoding, '</html>', shell)
      expect(rest).toContain('<b>finally')
    }
  })

  test('has a rule for browsers without scripts, which a whole document does not need', async () => {
    const { app } = tinyApp({
      routes: {
        '/': { page: holes, loader: moduleOf({ loader: () => ({ late: wait(20, 'late') }) }) },
        '/hello': { page: hello },
      },
    })
    const { headers, text } = await request(app).get('/')
    const [, nonce, rules = ''] =
      /<head>.*<noscript><style nonce="([^"]+)">(.*?)<\/style><\/noscript>/s.exec(text) ?? []
    expect(headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
    expect(rules).toContain('[id*="S:"]')
    expect(rules).toContain('template[id*="B:"]::before')
    expect(text).toMatch(/<template id="[^"]*B:0">.*<div hidden id="[^"]*S:0">/s)
    expect((await request(app).get('/hello')).text).not.toContain('<noscript>')
  })

  test.for([
    ['a refusal', notFound, /cannot be shown\. 404 Not Found<\/p>/],
    [
      'a failure',
      (): never => {
        throw new Error('<b>secret</b>')
      },
      /server-side exception has occurred\. Digest: [0-9a-f]{12}<\/p>/,
    ],
  ] as const)('says without scripts that a part is missing after %s', async ([, fails, said]) => {
    const late = async (): Promise<string> => {
      await wait(20)
      return fails()
    }
    const { app } = tinyApp({
      routes: { '/': { page: holes, loader: moduleOf({ loader: () => ({ late: late() }) }) } },
    })
    const { text } = await request(app).get('/')
    const notice = /<noscript><p role="alert">.*?<\/noscript>/s.exec(text)?.[0]
    expect(notice).toMatch(said)
    expect(notice).not.toContain('secret')
  })

  test('says how long it may take, which a whole document does not', async () => {
    const { app } = tinyApp({
      routes: {
        '/': { page: holes, loader: moduleOf({ loader: () => ({ late: Promise.resolve('late') }) }) },
        '/hello': { page: hello },
      },
      environment: { RENDER_TIMEOUT_MS: '4321' },
    })
    expect((await request(app).get('/')).text).toContain('"deadline":4321')
    expect((await request(app).get('/hello')).text).not.toContain('"deadline"')
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
    const pushes = [...text.matchAll(/self\.__millrace=\[\]\)\.push\((.*?)\)<\/script>/gs)].map(([, chunk]) => chunk)
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

  test('has the nonce on the script that keeps a form of a page that is not alive yet', async () => {
    const form = page(() => <form action={() => undefined} />)
    const { app } = tinyApp({ routes: { '/': { page: form } } })
    for (let visit = 0; visit < 2; visit += 1) {
      const { headers, text } = await request(app).get('/').expect(200)
      const nonce = /'nonce-([^']+)'/.exec(String(headers['content-security-policy']))?.[1]
      expect(text).toMatch(/<script[^>]*>addEventListener\("submit"/)
      for (const [script] of text.matchAll(/<script(?![^>]*application\/json)[^>]*>/g)) {
        expect(script).toContain(`nonce="${nonce}"`)
      }
    }
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
    const port = await portOf(app)
    const connection = await connectRaw(port)
    await connection.send(getRequest('/'))
    await connection.abortAfter(200)
    expect(await aborted.promise).toMatchObject({ name: 'AbortError', cause: 'gone' })
    await expect.poll(() => logs.find(({ aborted: cut }) => cut === true)).toMatchObject({ status: 200, route: '/' })
    expect(logs.filter(({ level }) => Number(level) >= 40)).toEqual([])
  })
})

function nonceOf(answer: { headers: Record<string, string> }): string {
  return /'nonce-([^']+)'/.exec(answer.headers['content-security-policy'] ?? '')?.[1] ?? ''
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
