import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { createZstdDecompress } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { readRouteData } from '../../src/shared/protocol/decode-route-data.ts'
import { notFound } from '../../src/shared/control-flow.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { getData } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)
const layout = moduleOf({ default: (({ children }: { children: unknown }) => children) as never })

/** A page at `/` with this loader. */
function pageWith(loader: (args: LoaderArgs) => unknown, options: Partial<TinyAppOptions> = {}) {
  return tinyApp({ routes: { '/': { ...fallbacks('root'), page: hello, loader: moduleOf({ loader }) } }, ...options })
}

/** What the browser makes of an answer's text. */
async function received(text: string): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  const ignore = () => undefined
  await readRouteData(new Blob([text]).stream().pipeThrough(new TextDecoderStream()) as never, {
    head: ignore,
    segment: (segment) => {
      values[segment.segment] = segment.values.data
      // A rejection that nobody looks at is the reader's business.
      for (const member of Object.values((segment.values.data ?? {}) as object)) {
        if (member instanceof Promise) member.catch(ignore)
      }
    },
    settled: ignore,
    outcome: ignore,
    redirect: ignore,
  })
  return values
}

describe('deferred values', () => {
  test('follow in the same answer, when they are there', async () => {
    const late = Promise.withResolvers<string>()
    const { app } = pageWith(() => ({ at: new Date(0), late: late.promise }))
    const port = await portOf(app)
    using connection = await connectRaw(port)
    await connection.send(getRequest('/_m/data/', { Connection: 'close' }))
    let early = ''
    while (!early.includes('#page')) early += (await connection.receive(1)).toString()
    late.resolve('late-value')
    const { rest } = await connection.end()
    expect(early).not.toContain('late-value')
    expect(rest.toString()).toContain('late-value')
  })

  test('that fail tell a digest, and the log the rest; the answer ends properly', async () => {
    const { app, logs } = pageWith(() => ({ fails: Promise.reject(new Error('secret-canary')), fine: 1 }))
    const answer = await getData(app, '/_m/data/')
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('secret-canary')
    expect(answer.records.at(-1)).toEqual({ done: true })
    const { '/#page': data } = (await received(answer.text)) as { '/#page': { fails: Promise<never> } }
    const reason = (await data.fails.catch((thrown: unknown) => thrown)) as { digest: string }
    expect(logs.filter(({ level }) => level === 50)).toMatchObject([{ digest: reason.digest, place: 'deferred' }])
  })

  test('that never come are rejected when the time is over, and the answer ends properly', async () => {
    const { app, logs } = pageWith(() => ({ never: new Promise(() => undefined) }), {
      environment: { RENDER_TIMEOUT_MS: '30' },
    })
    const { records, complete } = await getData(app, '/_m/data/')
    expect([complete, records.at(-1)]).toEqual([true, { done: true }])
    expect(logs.filter(({ level }) => level === 50)).toHaveLength(1)
  })

  test('hidden deeper in the result do not hold the answer open for ever', async () => {
    const { app } = pageWith(() => ({ deep: [new Promise(() => undefined)] }), {
      environment: { RENDER_TIMEOUT_MS: '30' },
    })
    const { records, complete } = await getData(app, '/_m/data/')
    expect([complete, 'done' in (records.at(-1) ?? {})]).toEqual([true, false])
  })

  test('arrive as what they were', async () => {
    const { app } = pageWith(() => ({
      at: new Date(5),
      map: new Map([[1n, new Set(['x'])]]),
      late: Promise.resolve(-0),
    }))
    const { '/#page': data } = (await received((await getData(app, '/_m/data/')).text)) as {
      '/#page': { late: Promise<number> }
    }
    expect(data).toMatchObject({ at: new Date(5), map: new Map([[1n, new Set(['x'])]]) })
    expect(await data.late).toBe(-0)
  })
})

describe('a loader', () => {
  test('that takes too long is a failure, as in the document', async () => {
    const { app, logs } = pageWith(() => new Promise(() => undefined), { environment: { RENDER_TIMEOUT_MS: '30' } })
    const { status, records } = await getData(app, '/_m/data/')
    expect([status, records.at(-2)]).toMatchObject([500, { outcome: { kind: 'error', at: 0 } }])
    expect(logs.filter(({ level }) => level === 50)).toHaveLength(1)
  })

  test('is aborted when the client goes away, which is no failure', async () => {
    const called = Promise.withResolvers<AbortSignal>()
    const { app, logs } = pageWith(({ signal }) => {
      called.resolve(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    })
    const port = await portOf(app)
    const connection = await connectRaw(port)
    await connection.send(getRequest('/_m/data/'))
    const signal = await called.promise
    connection.socket.resetAndDestroy()
    if (!signal.aborted) await once(signal, 'abort')
    await expect.poll(() => logs.length).toBe(1)
    expect(logs).toMatchObject([{ level: 30, route: '/_m/data/', aborted: true }])
  })

  test('is aborted when the client goes away in the middle of the answer, too', async () => {
    const called = Promise.withResolvers<AbortSignal>()
    const { app, logs } = pageWith(({ signal }) => {
      called.resolve(signal)
      return { late: new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) }
    })
    const port = await portOf(app)
    const connection = await connectRaw(port)
    await connection.send(getRequest('/_m/data/', { 'Accept-Encoding': 'zstd' }))
    await connection.abortAfter(200)
    const signal = await called.promise
    if (!signal.aborted) await once(signal, 'abort')
    await expect.poll(() => logs.length).toBe(1)
    expect(logs).toMatchObject([{ level: 30, aborted: true }])
  })
})

describe('compression', () => {
  test('holds no record back', async () => {
    const late = Promise.withResolvers<string>()
    const { app } = pageWith(() => ({ first: 'x'.repeat(2_000), late: late.promise }))
    const port = await portOf(app)
    using connection = await connectRaw(port)
    await connection.send(getRequest('/_m/data/', { 'Accept-Encoding': 'zstd', Connection: 'close' }))
    let wire = Buffer.alloc(0)
    while (!wire.includes('\r\n\r\n')) wire = Buffer.concat([wire, await connection.receive(1)])
    expect(wire.toString('latin1')).toMatch(/Content-Encoding: zstd/i)
    const plain = createZstdDecompress().setEncoding('utf8')
    let text = ''
    plain.on('data', (part: string) => (text += part))
    // The framing of chunks: size, bytes, border.
    while (!text.includes('xxx')) {
      let size = ''
      while (!size.endsWith('\r\n')) size += (await connection.receive(1)).toString()
      const bytes = await connection.receive(Number.parseInt(size, 16))
      await new Promise((done) => plain.write(bytes, done))
      await connection.receive(2)
    }
    expect(text).not.toContain('late-value')
    late.resolve('late-value')
    await connection.end()
  })

  test('is left out for a short answer, which has its length', async () => {
    const { app } = pageWith(() => 'short')
    const answer = await getData(app, '/_m/data/', { 'Accept-Encoding': 'zstd' })
    expect([answer.header('content-encoding'), answer.framing]).toEqual([undefined, 'length'])
    expect(answer.records.at(-1)).toEqual({ done: true })
  })

  test('is used for a long one', async () => {
    const { app } = pageWith(() => 'x'.repeat(5_000))
    const answer = await getData(app, '/_m/data/', { 'Accept-Encoding': 'br' })
    expect([answer.header('content-encoding'), answer.header('vary')]).toEqual([
      'br',
      'Accept-Encoding, X-Millrace-Build',
    ])
    expect(answer.body.length).toBeLessThan(500)
  })
})

describe('headers of loaders', () => {
  test('are those of the answer; a cookie makes it private', async () => {
    const { app } = pageWith(({ context, search }) => {
      context.headers.set('Cache-Control', 'public, max-age=60')
      context.headers.set('Vary', 'Cookie')
      context.headers.set('X-Own', '1')
      if (search['cookie'] !== undefined) context.headers.append('Set-Cookie', 'a=1')
    })
    const open = await getData(app, '/_m/data/')
    expect([open.header('cache-control'), open.header('vary'), open.header('x-own')]).toEqual([
      'public, max-age=60',
      'Accept-Encoding, Cookie, X-Millrace-Build',
      '1',
    ])
    const cookie = await getData(app, '/_m/data/?cookie')
    expect([cookie.header('cache-control'), cookie.header('set-cookie')]).toEqual(['private, no-store', 'a=1'])
  })

  test.for([
    ['refuses', () => notFound(), 'no-store'],
    ['defers', () => ({ late: Promise.reject(new Error('x')) }), 'private, no-store'],
  ] as const)('make nothing public that %s', async ([, rest, expected]) => {
    const { app } = pageWith(({ context }) => {
      context.headers.set('Cache-Control', 'public, max-age=60')
      return rest()
    })
    expect((await getData(app, '/_m/data/')).header('cache-control')).toBe(expected)
  })

  test('make nothing public while another loader is running, and late ones are told to the log', async () => {
    const inner = Promise.withResolvers<void>()
    const { app, logs } = tinyApp({
      routes: {
        '/': {
          layout,
          layoutLoader: moduleOf({
            loader: ({ context }: LoaderArgs) => void context.headers.set('Cache-Control', 'public, max-age=60'),
          }),
          page: hello,
          loader: moduleOf({
            loader: async ({ context }: LoaderArgs) => {
              await inner.promise
              context.headers.append('Set-Cookie', 'a=1')
            },
          }),
        },
      },
    })
    const port = await portOf(app)
    using connection = await connectRaw(port)
    await connection.send(getRequest('/_m/data/', { Connection: 'close' }))
    let seen = ''
    while (!seen.includes('#layout')) seen += (await connection.receive(1)).toString()
    inner.resolve()
    await connection.end()
    expect(seen).toMatch(/Cache-Control: private, no-store/i)
    expect(logs).toContainEqual(
      expect.objectContaining({
        msg: 'uncaught failure',
        err: expect.objectContaining({
          message: expect.stringMatching(/^The cookie a was changed after/) as string,
        }) as object,
      }),
    )
  })
})

describe('under load', () => {
  /** A server of two places, one of which is taken. */
  async function busy(work: (port: number, leave: () => void) => Promise<void>) {
    const held = Promise.withResolvers<void>()
    const came = Promise.withResolvers<void>()
    const { app } = pageWith(
      ({ search }) => {
        if (search['hold'] === undefined) return 'x'
        came.resolve()
        return held.promise
      },
      { environment: { MAX_PENDING_RENDERS: '2' } },
    )
    const port = await portOf(app)
    const first = requestRaw(port, getRequest('/_m/data/?hold'))
    await came.promise
    await work(port, held.resolve)
    held.resolve()
    expect((await first).status).toBe(200)
  }

  test.for<Readonly<Record<string, string>>>([{ Purpose: 'prefetch' }, { 'Sec-Purpose': 'prefetch;prerender' }])(
    'prefetches are refused first: %j',
    async (headers) => {
      await busy(async (port) => {
        const refused = await requestRaw(port, getRequest('/_m/data/', headers))
        expect([refused.status, refused.header('retry-after'), refused.header('x-millrace-build')]).toEqual([
          503,
          expect.stringMatching(/^[1-4]$/),
          'development',
        ])
        expect(refused.header('cache-control')).toBe('no-store')
        expect((await requestRaw(port, getRequest('/', headers))).status).toBe(503)
        expect((await requestRaw(port, getRequest('/_m/data/'))).status).toBe(200)
        expect((await requestRaw(port, getRequest('/_m/data/', { 'Sec-Purpose': 'other' }))).status).toBe(200)
      })
    },
  )

  test('data takes a place like a document, and gives it back', async () => {
    await busy(async (port, leave) => {
      using second = await connectRaw(port)
      await second.send(getRequest('/?hold'))
      await turn()
      expect((await requestRaw(port, getRequest('/_m/data/'))).status).toBe(503)
      const third = requestRaw(port, getRequest('/_m/data/'))
      leave()
      await second.response()
      expect((await third).status).toBe(200)
    })
  })

  test('a prefetch has a place where nothing else is going on', async () => {
    const { app } = pageWith(() => 'x', { environment: { MAX_PENDING_RENDERS: '1' } })
    expect((await getData(app, '/_m/data/', { Purpose: 'prefetch' })).status).toBe(200)
  })
})
