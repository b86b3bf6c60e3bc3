import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectRaw, getRequest, requestRaw } from '../../support/raw-http.ts'
import { RawHttpError } from '../../support/raw-response.ts'

/** A server that does as it is told with each connection. */
async function listen(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Answers the first bytes that come, piece by piece, each a write of its own, then ends. */
function answering(...pieces: readonly string[]): Promise<number> {
  return listen((socket) =>
    socket.once('data', async () => {
      for (const piece of pieces) await new Promise((done) => socket.write(piece, 'latin1', () => setImmediate(done)))
      socket.end()
    }),
  )
}

const CHUNKED =
  'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nTransfer-Encoding: chunked\r\n\r\n' +
  '5\r\nhello\r\n6;x=y\r\n, mill\r\n0\r\nServer-Timing: x\r\n\r\n'

describe('reading', () => {
  test.for([
    ['in one piece', [CHUNKED]],
    ['byte by byte', [...CHUNKED]],
  ] as const)('a chunked answer is the same when it comes %s', async ([, pieces]) => {
    const response = await requestRaw(await answering(...pieces), getRequest('/'))
    expect(response).toMatchObject({
      version: 'HTTP/1.1',
      status: 200,
      reason: 'OK',
      framing: 'chunked',
      text: 'hello, mill',
      complete: true,
      trailers: [['Server-Timing', 'x']],
    })
    expect(response.chunks.map((chunk) => chunk.bytes.toString())).toEqual(['hello', ', mill'])
    expect(response.headers.slice(0, 2)).toEqual([
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ])
    expect(response.header('SET-COOKIE')).toBe('a=1, b=2')
  })

  test('arrivals tell chunks that came together from chunks that came apart', async () => {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    const port = await listen((socket) =>
      socket.once('data', () => {
        socket.write(`${head}1\r\na\r\n1\r\nb\r\n`)
        socket.once('data', () => socket.end('1\r\nc\r\n0\r\n\r\n'))
      }),
    )
    using connection = await connectRaw(port)
    await connection.send('first')
    const reading = connection.response()
    // The second half is only asked for once the first has been taken in.
    await once(connection.socket, 'readable')
    await connection.send('second')
    const [first, second, third] = (await reading).chunks.map((chunk) => chunk.arrival)
    expect(first).toBe(second)
    expect(third).toBeGreaterThan(first ?? Number.NaN)
  })

  test('several answers on one connection are told apart, interim ones kept with theirs', async () => {
    const port = await answering(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 204 No Content\r\n\r\n',
    )
    using connection = await connectRaw(port)
    await connection.send('x')
    expect(await connection.response()).toMatchObject({ status: 200, interim: [100], text: 'ok', framing: 'length' })
    expect(await connection.response()).toMatchObject({ status: 204, framing: 'none', complete: true })
    expect(await connection.end()).toMatchObject({ how: 'fin', rest: Buffer.alloc(0) })
  })

  test('an answer to HEAD has no body, whatever its headers say', async () => {
    const port = await answering('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
    const response = await requestRaw(port, 'HEAD / HTTP/1.1\r\n\r\n', { head: true })
    expect(response).toMatchObject({ framing: 'none', complete: true, text: '' })
  })

  test.for([
    ['in a chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhel', 'hel'],
    ['between chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', 'hello'],
    ['before the last line of a chunked body', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n', 'hello'],
    ['before its length', 'Content-Length: 9\r\n\r\nhello', 'hello'],
  ] as const)('an answer that ends %s is not complete', async ([, rest, text]) => {
    const response = await requestRaw(await answering(`HTTP/1.1 200 OK\r\n${rest}`), getRequest('/'))
    expect(response).toMatchObject({ complete: false, text })
  })

  test.for([
    ['no status line', 'hello\r\n\r\n'],
    ['an end inside the head', 'HTTP/1.1 200 OK\r\nA: b\r\n'],
    ['an end before anything', ''],
    ['two framings', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a header name with a space', 'HTTP/1.1 200 OK\r\nA b: c\r\n\r\n'],
    ['a chunk that is longer than its size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n'],
    ['a chunk size that is none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n'],
  ] as const)('%s is an error', async ([, answer]) => {
    await expect(requestRaw(await answering(answer), getRequest('/'))).rejects.toThrow(RawHttpError)
  })
})

describe('sending and leaving', () => {
  test('bytes sent one by one arrive as they were', async () => {
    const request = getRequest('/café?ü')
    const port = await listen((socket) => {
      const seen: Buffer[] = []
      socket.on('data', (bytes: Buffer) => {
        seen.push(bytes)
        const text = Buffer.concat(seen).toString('latin1')
        if (text.endsWith('\r\n\r\n')) socket.end(`HTTP/1.1 200 OK\r\nX-Reads: ${seen.length}\r\n\r\n${text}`, 'latin1')
      })
    })
    const response = await requestRaw(port, request, { every: 1 })
    expect(response.body.toString('latin1')).toBe(request)
    expect(Number(response.header('x-reads'))).toBeGreaterThan(1)
  })

  test('abort drops the connection at the byte', async () => {
    const gone = Promise.withResolvers<string>()
    const port = await listen((socket) => {
      socket.on('error', (error: NodeJS.ErrnoException) => gone.resolve(error.code ?? 'no code'))
      socket.once('data', () => socket.write('0123456789'))
    })
    const connection = await connectRaw(port)
    await connection.send('x')
    await connection.abortAfter(4)
    expect(await gone.promise).toBe('ECONNRESET')
  })

  test('nothing is read unless asked for, so the sender feels a slow client', async () => {
    const size = 64 * 1024 * 1024
    const port = await listen((socket) => {
      socket.once('data', () => {
        const held = !socket.write(Buffer.alloc(size))
        socket.once('data', () => socket.end(String(held && socket.writableLength > 0)))
      })
    })
    using connection = await connectRaw(port)
    await connection.send('x')
    expect(await connection.receive(10)).toHaveLength(10)
    await connection.send('y')
    expect(await connection.receive(size - 10)).toHaveLength(size - 10)
    expect((await connection.end()).rest.toString()).toBe('true')
  })

  test('the end tells a reset from a close', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.resetAndDestroy()))
    using connection = await connectRaw(port)
    await connection.send('x')
    expect(await connection.end()).toMatchObject({ how: 'reset' })
  })
})
