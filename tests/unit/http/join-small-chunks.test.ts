/** Bodies in many small chunks: what a request keeps of them, and what a reader gets. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { joinSmallChunks } from '../../../src/server/http/body/join-small-chunks.ts'

/** A server that joins, and a client that writes what it likes. */
async function world() {
  const arrived = Promise.withResolvers<IncomingMessage>()
  const server = createServer((req) => {
    joinSmallChunks(req)
    joinSmallChunks(req)
    arrived.resolve(req)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  socket.on('error', () => undefined)
  return { socket, arrived: arrived.promise }
}

const HEAD = 'POST / HTTP/1.1\r\nHost: mill\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const buffersOf = (req: IncomingMessage): number =>
  (Reflect.get(req, '_readableState') as { readonly buffer: readonly unknown[] }).buffer.length

function bodyOf(req: IncomingMessage): Promise<string> {
  return req.toArray().then((parts) => Buffer.concat(parts as Buffer[]).toString())
}

function send(socket: Socket, ...texts: readonly string[]): void {
  socket.write(HEAD + texts.map(chunk).join('') + '0\r\n\r\n')
}

test('a request that nobody reads keeps few buffers, however small the chunks are', async () => {
  const { socket, arrived } = await world()
  const texts = Array.from({ length: 4_000 }, (_, at) => String(at % 10))
  socket.write(HEAD + texts.map(chunk).join(''))
  const req = await arrived
  await vi.waitUntil(() => req.readableLength === 4_000)
  expect(buffersOf(req)).toBeLessThan(20)
  socket.write('0\r\n\r\n')
  expect(await bodyOf(req)).toBe(texts.join(''))
})

test('the reader gets all bytes in their order, whatever the sizes are', async () => {
  const { socket, arrived } = await world()
  const sizes = [1, 2, 1_023, 1_024, 1_025, 5, 4_096, 3, 70_000, 1, 1_000, 1_000, 1_000, 1_000, 1_000, 7]
  const texts = sizes.map((size, at) => String.fromCodePoint(97 + at).repeat(size))
  send(socket, ...texts)
  expect(await bodyOf(await arrived)).toBe(texts.join(''))
})

test('a small chunk reaches its reader although no other follows', async () => {
  const { socket, arrived } = await world()
  socket.write(HEAD + chunk('first'))
  const req = await arrived
  const [first] = await once(req, 'data')
  expect(String(first)).toBe('first')
  socket.write(chunk('second'))
  const [second] = await once(req, 'data')
  expect(String(second)).toBe('second')
})

test('a reader that stops in the middle stops the connection, and goes on', async () => {
  const { socket, arrived } = await world()
  const text = 'x'.repeat(100)
  const count = 20_000
  send(socket, ...Array.from({ length: count }, () => text))
  const req = await arrived
  await vi.waitUntil(() => req.readableLength >= req.readableHighWaterMark)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(req.readableLength).toBeLessThan(4 * req.readableHighWaterMark)
  expect(await bodyOf(req)).toHaveLength(count * text.length)
})

test('small packets of a long body are joined, and reach their reader', async () => {
  const { socket, arrived } = await world()
  socket.setNoDelay()
  socket.write('POST / HTTP/1.1\r\nHost: mill\r\nContent-Length: 900000\r\n\r\n')
  const req = await arrived
  for (let at = 0; at < 400; at += 1) {
    socket.write('sixteen bytes...')
    await new Promise((resolve) => setImmediate(resolve))
  }
  await vi.waitUntil(() => req.readableLength === 400 * 16)
  expect(buffersOf(req)).toBeLessThan(300)
})

test('a body that is refused is never taken for a whole one', async () => {
  const { socket, arrived } = await world()
  socket.write(`${HEAD}${chunk('y').repeat(40_000)}0\r\n\r\n`)
  const ended = vi.fn<() => void>()
  const req = await arrived
  req
    .on('end', ended)
    .on('error', () => undefined)
    .resume()
  await new Promise((resolve) => req.once('close', resolve))
  expect(ended).not.toHaveBeenCalled()
})

test('a connection with thousands of chunks of a few bytes is destroyed', async () => {
  const { socket, arrived } = await world()
  socket.write(HEAD + chunk('y').repeat(40_000))
  const req = await arrived
  await new Promise((resolve) => socket.once('close', resolve))
  expect(req.destroyed).toBe(true)
})
