import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { answering, behind, httpUpstream, quiet, recorded, startProxy, until } from './proxy-setup.ts'

describe('what the upstream gets', () => {
  it('is the method, the URL to the letter, the headers and the body', async () => {
    await using setup = await recorded()
    const response = await requestRaw(
      setup.proxy.port,
      'PATCH /a%2Fb/%7e?x=%20&y HTTP/1.1\r\nHost: shop.test\r\nContent-Type: text/x\r\nCookie: a=1\r\nCookie: b=2\r\n' +
        'X-Twice: 1\r\nX-Twice: 2\r\n__proto__: odd\r\nAuthorization: Bearer t\r\nContent-Length: 5\r\n\r\nh\xe9llo',
    )
    expect(response.status).toBe(200)
    expect(setup.received).toEqual([
      {
        method: 'PATCH',
        url: '/a%2Fb/%7e?x=%20&y',
        headers: expect.objectContaining({
          host: `127.0.0.1:${setup.upstream.port}`,
          'content-type': 'text/x',
          'content-length': '5',
          cookie: 'a=1; b=2',
          'x-twice': '1, 2',
          authorization: 'Bearer t',
        }),
        body: 'h\xe9llo',
      },
    ])
  })

  it('says who asked as this server knows it, not as the visitor claims', async () => {
    await using setup = await recorded()
    const claims = {
      'X-Forwarded-For': '6.6.6.6',
      'X-Forwarded-Host': 'evil.test',
      'X-Forwarded-Proto': 'x:admin',
      'X-Forwarded-Port': '80/',
      'X-Forwarded-Prefix': '/evil',
      'X-Real-IP': '6.6.6.6',
      Forwarded: 'for=6.6.6.6',
      Connection: 'keep-alive, X-Forwarded-For, Host',
    }
    await requestRaw(setup.proxy.port, getRequest('/', claims))
    const headers = setup.received[0]?.headers ?? {}
    expect(headers).toMatchObject({
      host: `127.0.0.1:${setup.upstream.port}`,
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-host': 'shop.test:8443',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '8443',
    })
    expect(JSON.stringify(headers)).not.toMatch(/6\.6\.6\.6|evil|admin/)
  })

  it('has nothing that was meant for this connection alone', async () => {
    await using setup = await recorded()
    await requestRaw(
      setup.proxy.port,
      getRequest('/', {
        Connection: 'close, X-Secret',
        'X-Secret': '1',
        'Keep-Alive': 'timeout=9',
        TE: 'trailers',
        'Proxy-Authorization': 'Basic x',
        'Proxy-Connection': 'keep-alive',
        'X-Kept': '1',
      }),
    )
    const { host, connection, ...headers } = setup.received[0]?.headers ?? {}
    expect([host, connection]).toEqual([`127.0.0.1:${setup.upstream.port}`, 'keep-alive'])
    expect(Object.keys(headers).filter((name) => !name.startsWith('x-forwarded-'))).toEqual(['x-kept'])
  })

  it('has no credentials of the target’s URL', async () => {
    await using setup = await recorded()
    await using proxy = await startProxy(setup.upstream.port, 'user:secret@')
    await requestRaw(proxy.port, getRequest('/'))
    expect(setup.received[0]?.headers.authorization).toBeUndefined()
  })

  it('comes piece by piece, as the visitor sends it', async () => {
    const pieces: string[] = []
    await using setup = await behind(
      await httpUpstream((req, res) => {
        req.on('data', (piece: Buffer) => void pieces.push(piece.toString()))
        req.on('end', () => res.end('done'))
      }),
    )
    using connection = await connectRaw(setup.proxy.port)
    await connection.send('PUT / HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n')
    await until(() => pieces.join('') === 'one')
    await connection.send('3\r\ntwo\r\n0\r\n\r\n')
    expect((await connection.response()).text).toBe('done')
    expect(pieces.join('')).toBe('onetwo')
  })
})

describe('what the visitor gets', () => {
  it('is the upstream’s status, headers and body, a redirect and cookies included', async () => {
    await using setup = await recorded((_, res) => {
      res.writeHead(302, {
        Location: '//other.test/\\x',
        'Set-Cookie': ['a=1', 'b=2'],
        'X-Custom': 'v',
        'Content-Length': 4,
      })
      res.end('body')
    })
    const response = await requestRaw(setup.proxy.port, getRequest('/'))
    expect([response.status, response.text, response.framing]).toEqual([302, 'body', 'length'])
    expect(response.header('location')).toBe('//other.test/\\x')
    expect(response.header('x-custom')).toBe('v')
    expect(response.headers.filter(([name]) => name === 'Set-Cookie')).toEqual([
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ])
  })

  it('has nothing that was meant for the upstream’s connection alone', async () => {
    await using setup = await answering(
      'HTTP/1.1 200 Fine\r\nConnection: X-Secret, close\r\nX-Secret: 1\r\nKeep-Alive: timeout=1\r\nTrailer: X-T\r\n' +
        'Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\nX-Kept: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\n\r\n',
    )
    const response = await requestRaw(setup.proxy.port, getRequest('/'))
    expect([response.text, response.trailers, response.header('x-kept')]).toEqual(['a', [], '1'])
    expect(response.header('connection')).toBe('keep-alive')
    for (const name of ['x-secret', 'trailer', 'proxy-authenticate', 'upgrade']) {
      expect(response.header(name)).toBeUndefined()
    }
  })

  it('comes piece by piece, as the upstream sends it', async () => {
    const { promise: second, resolve: sendSecond } = Promise.withResolvers<void>()
    await using setup = await recorded(async (_, res) => {
      res.write('one')
      await second
      res.end('two')
    })
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(getRequest('/'))
    let head = ''
    while (!head.endsWith('one\r\n')) head += (await connection.receive(1)).toString()
    sendSecond()
    expect((await connection.receive(13)).toString()).toBe('3\r\ntwo\r\n0\r\n\r\n')
  })

  it('is no faster than the visitor reads', async () => {
    const total = 64 * 1024 * 1024
    const piece = Buffer.alloc(64 * 1024)
    const sent = { bytes: 0 }
    await using setup = await recorded(async (_, res) => {
      for (; sent.bytes < total; sent.bytes += piece.length) if (!res.write(piece)) await once(res, 'drain')
      res.end()
    })
    using connection = await connectRaw(setup.proxy.port)
    await connection.send(getRequest('/'))
    await until(() => setup.proxy.answers[0]?.writableNeedDrain === true)
    await quiet(() => sent.bytes)
    expect(sent.bytes).toBeLessThan(total)
    expect(setup.proxy.answers[0]?.writableLength).toBeLessThan(1024 * 1024)
    expect((await connection.response()).body.length).toBe(total)
  })

  it.each([
    ['HEAD', 200, '11'],
    ['GET', 204, undefined],
    ['GET', 304, '11'],
  ])('for %s with %i has no body, and the connection serves the next request', async (method, status, length) => {
    await using setup = await answering(
      `HTTP/1.1 ${status} X\r\nContent-Length: ${status === 204 ? 0 : 11}\r\nConnection: close\r\n\r\n`,
    )
    using connection = await connectRaw(setup.proxy.port)
    for (let round = 0; round < 2; round += 1) {
      await connection.send(getRequest('/').replace('GET', method))
      const response = await connection.response({ head: method === 'HEAD' })
      expect([response.status, response.header('content-length'), response.text]).toEqual([status, length, ''])
    }
  })

  it('is an early answer, although the body is still on its way', async () => {
    await using setup = await behind(await httpUpstream((_, res) => void res.writeHead(413).end('too much')))
    using connection = await connectRaw(setup.proxy.port)
    await connection.send('POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 10\r\n\r\nhalf.')
    const response = await connection.response()
    expect([response.status, response.text]).toEqual([413, 'too much'])
    await connection.send('halfb' + getRequest('/'))
    expect((await connection.response()).status).toBe(413)
  })
})
