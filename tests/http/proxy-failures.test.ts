import { afterEach, describe, expect, it, vi } from 'vitest'
import { BODY_SILENCE_MS } from '../../src/server/http/body/body-limits.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import {
  answering,
  behind,
  deadPort,
  httpUpstream,
  quiet,
  rawUpstream,
  recorded,
  startProxy,
  TIMEOUT_MS,
  until,
} from './proxy-setup.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** From here on only the test moves the clock; connections live on. */
function holdTheClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
}

describe('when the upstream fails', () => {
  it('502 where nobody listens', async () => {
    await using proxy = await startProxy(await deadPort())
    for (const request of [getRequest('/'), 'POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 2\r\n\r\nhi']) {
      const response = await requestRaw(proxy.port, request)
      expect([response.status, response.text, response.header('cache-control')]).toEqual([
        502,
        'Bad Gateway\n',
        'no-store',
      ])
    }
    expect(proxy.failures).toMatchObject([{ reason: 'unreachable' }, { reason: 'unreachable' }])
  })

  it.each([
    ['nonsense', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a header that would split the answer', 'HTTP/1.1 200 OK\r\nX-A: a\rSet-Cookie: b=1\r\nContent-Length: 0\r\n\r\n'],
    ['a control character in a header', 'HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'],
    ['a protocol nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['an endless header', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`],
  ])('502 for %s', async (_what, bytes) => {
    await using setup = await answering(bytes)
    const response = await requestRaw(setup.proxy.port, getRequest('/'))
    expect(response.status).toBe(502)
    expect(response.headers.map(([name]) => name.toLowerCase())).not.toContain('set-cookie')
    expect(setup.proxy.failures).toMatchObject([{ status: 502, reason: 'bad-answer' }])
  })

  it('504 where it accepts and says nothing', async () => {
    holdTheClock()
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    await using setup = await behind(await rawUpstream((socket) => socket.once('data', () => ask())))
    const response = requestRaw(setup.proxy.port, getRequest('/'))
    await asked
    vi.advanceTimersByTime(TIMEOUT_MS)
    expect((await response).status).toBe(504)
    expect(setup.proxy.failures).toMatchObject([{ reason: 'time-out' }])
    await until(() => setup.upstream.connections[0]?.readableEnded === true)
  })

  it('a pause in the middle of an answer ends it, visibly', async () => {
    holdTheClock()
    await using setup = await answering('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(getRequest('/'))
    await until(() => setup.proxy.answers[0]?.headersSent === true)
    await quiet(() => setup.proxy.connections[0]?.bytesWritten ?? 0)
    vi.advanceTimersByTime(TIMEOUT_MS)
    const response = await connection.response()
    expect([response.text, response.complete]).toEqual(['half', false])
    expect(setup.proxy.failures).toMatchObject([{ reason: 'time-out' }])
  })

  it('a visitor who sends or reads slowly is not the upstream’s fault', async () => {
    holdTheClock()
    const piece = Buffer.alloc(8 * 1024 * 1024)
    await using setup = await recorded((_, res) => void res.end(piece))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send('POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 2\r\n\r\na')
    await until(() => setup.received.length === 0 && setup.upstream.connections.length === 1)
    await quiet(() => setup.upstream.connections[0]?.bytesRead ?? 0)
    vi.advanceTimersByTime(BODY_SILENCE_MS - 1)
    await connection.send('b')
    await until(() => setup.proxy.answers[0]?.writableNeedDrain === true)
    await quiet(() => setup.proxy.connections[0]?.bytesWritten ?? 0)
    vi.advanceTimersByTime(3 * TIMEOUT_MS)
    expect((await connection.response()).body.length).toBe(piece.length)
    expect(setup.proxy.failures).toEqual([])
  })

  describe('408 for a visitor whose body does not come, because the upstream would wait with it', () => {
    const HEAD = 'POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 90000\r\n\r\na'
    const silent = async () => behind(await rawUpstream((socket) => socket.on('error', () => undefined).resume()))

    it('that pauses', async () => {
      holdTheClock()
      await using setup = await silent()
      using connection = await connectRaw(setup.proxy.port)
      await connection.send(HEAD)
      await until(() => setup.upstream.connections.length === 1)
      await quiet(() => setup.upstream.connections[0]?.bytesRead ?? 0)
      vi.advanceTimersByTime(BODY_SILENCE_MS)
      expect((await connection.response()).status).toBe(408)
      expect(setup.proxy.failures).toEqual([])
    })

    it('that trickles', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      await using setup = await silent()
      using connection = await connectRaw(setup.proxy.port)
      await connection.send(HEAD)
      await until(() => setup.upstream.connections.length === 1)
      for (const byte of ['b', 'c']) {
        await quiet(() => setup.upstream.connections[0]?.bytesRead ?? 0)
        vi.advanceTimersByTime(BODY_SILENCE_MS - 1)
        await connection.send(byte)
      }
      expect((await connection.response()).status).toBe(408)
    })
  })

  it.each([
    ['with a length', 'Content-Length: 10\r\n\r\nhalf'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['in a broken chunk', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nZZ\r\n'],
  ])('an answer %s that is cut off is not taken for a whole one', async (_how, rest) => {
    await using setup = await behind(
      await rawUpstream((socket) => socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))),
    )
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(getRequest('/'))
    expect(await connection.response()).toMatchObject({ text: 'half', complete: false })
    expect(setup.proxy.failures).toMatchObject([{ reason: 'cut-off' }])
  })

  it('nor where only the connection’s end delimits it', async () => {
    await using setup = await behind(
      await rawUpstream((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n')),
      ),
    )
    using connection = await connectRaw(setup.proxy.port)
    await connection.send('GET / HTTP/1.0\r\nHost: shop.test\r\n\r\n')
    expect(await connection.end()).toMatchObject({ how: 'reset' })
  })

  it('a kept connection that has died costs a visitor nothing', async () => {
    await using setup = await behind(
      await rawUpstream((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
          socket.once('data', () => socket.resetAndDestroy())
        })
      }),
    )
    for (const count of [1, 2]) {
      expect((await requestRaw(setup.proxy.port, getRequest('/'))).text).toBe('ok')
      expect(setup.upstream.connections).toHaveLength(count)
    }
    expect(setup.proxy.failures).toEqual([])
  })

  it('what must not be sent twice never rides a kept connection', async () => {
    await using setup = await recorded()
    await requestRaw(setup.proxy.port, getRequest('/'))
    await requestRaw(setup.proxy.port, getRequest('/'))
    expect(setup.upstream.connections).toHaveLength(1)
    await requestRaw(setup.proxy.port, 'DELETE / HTTP/1.1\r\nHost: shop.test\r\n\r\n')
    await requestRaw(setup.proxy.port, 'POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 1\r\n\r\na')
    expect(setup.upstream.connections).toHaveLength(3)
  })

  it('a request that fails after the upstream has it is not sent again', async () => {
    const requests: string[] = []
    await using setup = await behind(
      await rawUpstream((socket) =>
        socket.once('data', (bytes) => {
          requests.push(String(bytes).slice(0, 5))
          socket.resetAndDestroy()
        }),
      ),
    )
    expect((await requestRaw(setup.proxy.port, getRequest('/'))).status).toBe(502)
    expect(requests).toEqual(['GET /'])
  })
})

describe('when the visitor leaves', () => {
  it('before the answer, the upstream is let go', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    await using setup = await behind(await httpUpstream((req) => void req.on('close', leave)))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(getRequest('/'))
    await until(() => setup.upstream.connections.length === 1)
    connection.socket.resetAndDestroy()
    await left
    await setup.proxy.over()
    expect(setup.proxy.failures).toEqual([])
  })

  it('in the middle of a body, the upstream does not take the half for the whole', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<boolean>()
    await using setup = await behind(
      await httpUpstream((req) => {
        req.resume()
        req.on('error', () => undefined)
        req.on('close', () => end(req.complete))
      }),
    )
    using connection = await connectRaw(setup.proxy.port)
    await connection.send('POST / HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n')
    await until(() => setup.upstream.connections.length === 1)
    connection.socket.resetAndDestroy()
    expect(await ended).toBe(false)
  })

  it('in the middle of the answer, the upstream stops', async () => {
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
    const piece = Buffer.alloc(64 * 1024)
    await using setup = await recorded((_, res) => {
      res.on('close', stop)
      const fill = (): void => {
        while (!res.destroyed && res.write(piece));
      }
      res.on('drain', fill)
      fill()
    })
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(getRequest('/'))
    await connection.abortAfter(100_000)
    await stopped
    await setup.proxy.over()
    expect(setup.proxy.failures).toEqual([])
  })

  it('an abort from within ends both sides', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    await using setup = await behind(await httpUpstream((req) => void req.on('close', leave)))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(getRequest('/'))
    await until(() => setup.upstream.connections.length === 1)
    setup.proxy.abort()
    await left
    expect((await connection.end()).rest).toHaveLength(0)
    expect(setup.proxy.failures).toEqual([])
  })
})
