import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { deadPort, IDLE_MS, quiet, rawUpstream, startProxy, TIMEOUT_MS, until } from './proxy-setup.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ACCEPT = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
const HANDSHAKE = getRequest('/socket?x=1', {
  Connection: 'keep-alive, Upgrade',
  Upgrade: 'WebSocket',
  'Sec-WebSocket-Key': KEY,
  'Sec-WebSocket-Version': '13',
  Origin: 'https://shop.test',
  'X-Forwarded-For': '6.6.6.6',
})
const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  `Sec-WebSocket-Accept: ${ACCEPT}\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nKeep-Alive: timeout=1\r\n\r\n`

/** An upstream that answers the handshake with fixed bytes, and a proxy before it. */
async function upgrading(answer: string, joined: (socket: Socket) => void = () => undefined) {
  const requests: string[] = []
  const upstream = await rawUpstream((socket) => {
    socket.once('data', (bytes) => {
      requests.push(bytes.toString('latin1'))
      socket.write(answer, 'latin1')
      joined(socket)
    })
  })
  const proxy = await startProxy(upstream.port)
  return {
    proxy,
    upstream,
    requests,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

afterEach(() => {
  vi.useRealTimers()
})

describe('a WebSocket through an external rewrite', () => {
  it('carries bytes both ways, the first ones behind each handshake included', async () => {
    await using setup = await upgrading(`${SWITCHING}hello`, (socket) => {
      socket.on('data', (bytes) => socket.write(`<${String(bytes)}>`))
    })
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    const response = await connection.response()
    expect([response.status, response.header('sec-websocket-accept')]).toEqual([101, ACCEPT])
    expect([response.header('upgrade'), response.header('connection')]).toEqual(['websocket', 'Upgrade'])
    expect(response.header('set-cookie')).toBe('a=1, b=2')
    expect(response.header('keep-alive')).toBeUndefined()
    expect((await connection.receive(5)).toString()).toBe('hello')
    await connection.send('ping')
    expect((await connection.receive(6)).toString()).toBe('<ping>')
  })

  it('what the visitor sends right behind the handshake is not lost', async () => {
    const got: string[] = []
    await using setup = await upgrading(SWITCHING, (socket) => {
      socket.on('data', (bytes) => void got.push(String(bytes)))
    })
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(`${HANDSHAKE}early`)
    await connection.response()
    await until(() => got.length > 0)
    expect(got.join('')).toBe('early')
  })

  it('what the visitor sends before the answer of the upstream is not lost', async () => {
    const got: string[] = []
    await using upstream = await rawUpstream((socket) => {
      socket.once('data', () => {
        // Once the early bytes are in the proxy.
        setTimeout(() => socket.write(SWITCHING, 'latin1'), 50)
        socket.on('data', (bytes) => void got.push(String(bytes)))
      })
    })
    await using proxy = await startProxy(upstream.port)
    using connection = await connectRaw(proxy.port)
    await connection.send(HANDSHAKE)
    await connection.send('early')
    await connection.response()
    await connection.send(' late')
    await until(() => got.join('').length > 9)
    expect(got.join('')).toBe('early late')
  })

  it.for(['leaves', 'sends more than is held'] as const)(
    'where the visitor %s before the upstream has answered, nothing is held for it',
    async (how) => {
      const seen = { begun: false, isOver: false }
      await using upstream = await rawUpstream((socket) => {
        socket.once('data', () => (seen.begun = true))
        socket.once('close', () => (seen.isOver = true)).on('end', () => socket.end())
        socket.on('error', () => undefined)
      })
      await using proxy = await startProxy(upstream.port)
      using connection = await connectRaw(proxy.port)
      await connection.send(HANDSHAKE)
      await until(() => seen.begun)
      if (how === 'leaves') connection.socket.end()
      else connection.socket.write('x'.repeat(200_000))
      await proxy.over()
      await until(() => seen.isOver)
      // Not because the upstream has taken too long.
      expect(proxy.failures).toEqual([])
    },
  )

  it('tells the upstream who asks, as this server knows it', async () => {
    await using setup = await upgrading(SWITCHING)
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await connection.response()
    const request = setup.requests[0]?.toLowerCase() ?? ''
    expect(request).toContain('get /socket?x=1 http/1.1\r\n')
    for (const line of [
      `host: 127.0.0.1:${setup.upstream.port}`,
      'connection: upgrade',
      'upgrade: websocket',
      `sec-websocket-key: ${KEY.toLowerCase()}`,
      'origin: https://shop.test',
      'x-forwarded-for: 203.0.113.7',
    ]) {
      expect(request).toContain(`\r\n${line}\r\n`)
    }
    expect(request).not.toContain('6.6.6.6')
  })

  it('when the upstream ends, the visitor gets all that came before', async () => {
    const last = 'x'.repeat(1024 * 1024)
    await using setup = await upgrading(SWITCHING, (socket) => socket.end(last))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await connection.response()
    const { how, rest } = await connection.end()
    expect([how, rest.length]).toEqual(['fin', last.length])
    await setup.proxy.over()
  })

  it('when the visitor ends, so does the upstream', async () => {
    const got = { text: '' }
    await using setup = await upgrading(SWITCHING, (socket) => {
      socket.on('data', (bytes) => (got.text += String(bytes)))
      socket.on('end', () => socket.end('bye'))
    })
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await connection.response()
    connection.socket.end('last')
    expect((await connection.end()).rest.toString()).toBe('bye')
    expect(got.text).toBe('last')
    await setup.proxy.over()
  })

  it('a reset on one side ends the other', async () => {
    await using setup = await upgrading(SWITCHING, (socket) => void socket.once('data', () => socket.resetAndDestroy()))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await connection.response()
    await connection.send('go')
    expect((await connection.end()).rest).toHaveLength(0)
    await setup.proxy.over()
  })

  it('ends when nothing has come either way for long enough, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using setup = await upgrading(SWITCHING, (socket) => socket.on('data', (bytes) => socket.write(bytes)))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await connection.response()
    for (let round = 0; round < 3; round += 1) {
      vi.advanceTimersByTime(IDLE_MS - 1)
      await connection.send('ping')
      expect((await connection.receive(4)).toString()).toBe('ping')
    }
    vi.advanceTimersByTime(IDLE_MS)
    expect((await connection.end()).rest).toHaveLength(0)
    await until(() => setup.upstream.connections[0]?.readableEnded === true)
    await setup.proxy.over()
  })

  it('ends with the server', async () => {
    await using setup = await upgrading(SWITCHING)
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await connection.response()
    setup.proxy.abort()
    expect((await connection.end()).rest).toHaveLength(0)
    await until(() => setup.upstream.connections[0]?.readableEnded === true)
    await setup.proxy.over()
  })
})

describe('a handshake that comes to nothing', () => {
  it.each([
    ['short', 'no entry'],
    ['long', 'n'.repeat(2 * 1024 * 1024)],
  ])('refused with a %s text, is answered as the upstream did', async (_size, text) => {
    await using setup = await upgrading(
      `HTTP/1.1 403 No\r\nX-Why: members\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    )
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    const response = await connection.response()
    expect([response.status, response.header('x-why'), response.header('connection')]).toEqual([
      403,
      'members',
      'close',
    ])
    expect(response.text).toBe(text)
    expect((await connection.end()).how).toBe('fin')
    await setup.proxy.over()
  })

  it('502 where nobody listens', async () => {
    await using proxy = await startProxy(await deadPort())
    using connection = await connectRaw(proxy.port)
    await connection.send(HANDSHAKE)
    expect((await connection.response()).status).toBe(502)
    expect(proxy.failures).toMatchObject([{ reason: 'unreachable' }])
  })

  it('502 where the upstream switches to something else', async () => {
    await using setup = await upgrading(SWITCHING.replace('Upgrade: websocket', 'Upgrade: h2c'))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    expect((await connection.response()).status).toBe(502)
  })

  it('504 where the upstream says nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using setup = await upgrading('')
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await until(() => setup.requests.length === 1)
    vi.advanceTimersByTime(TIMEOUT_MS)
    expect((await connection.response()).status).toBe(504)
    expect(setup.proxy.failures).toMatchObject([{ reason: 'time-out' }])
  })

  it('a refusal that is cut off is not taken for a whole one', async () => {
    await using setup = await upgrading('HTTP/1.1 403 No\r\nContent-Length: 10\r\n\r\nhalf', (socket) => socket.end())
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    expect(await connection.response()).toMatchObject({ text: 'half', complete: false })
    await until(() => setup.proxy.failures.length === 1)
    expect(setup.proxy.failures).toMatchObject([{ reason: 'cut-off' }])
  })

  it('a refusal that stops in the middle does not hold the visitor for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using setup = await upgrading('HTTP/1.1 403 No\r\nContent-Length: 10\r\n\r\nhalf')
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await until(() => (setup.proxy.connections[0]?.bytesWritten ?? 0) > 0)
    await quiet(() => setup.proxy.connections[0]?.bytesWritten ?? 0)
    vi.advanceTimersByTime(TIMEOUT_MS)
    expect(await connection.response()).toMatchObject({ text: 'half', complete: false })
    await setup.proxy.over()
  })

  it.each([
    ['another protocol', HANDSHAKE.replace('WebSocket', 'h2c'), 501],
    ['another method', HANDSHAKE.replace('GET', 'POST'), 400],
    ['a body', HANDSHAKE.replace('Origin', 'Content-Length: 5\r\nOrigin'), 400],
  ])('%s does not reach the upstream', async (_what, handshake, status) => {
    await using setup = await upgrading(SWITCHING)
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(handshake)
    expect((await connection.response()).status).toBe(status)
    await connection.end()
    expect(setup.upstream.connections).toHaveLength(0)
  })

  it('a visitor who leaves during it takes the upstream along', async () => {
    await using setup = await upgrading('')
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(HANDSHAKE)
    await until(() => setup.requests.length === 1)
    connection.socket.resetAndDestroy()
    await setup.proxy.over()
    await until(() => setup.upstream.connections[0]?.readableEnded === true)
    expect(setup.proxy.failures).toEqual([])
  })
})
