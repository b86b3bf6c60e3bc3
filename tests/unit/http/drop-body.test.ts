import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { dropBody } from '../../../src/server/http/body/drop-body.ts'
import { withServer } from '../../support/listening.ts'
import { connectRaw, getRequest } from '../../support/raw-http.ts'

afterEach(() => void vi.useRealTimers())

const ANSWER = 'x'.repeat(100_000)

function post(length: number): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`
}

function answer(res: ServerResponse): void {
  res.statusCode = 413
  res.end(ANSWER)
}

const ORDERS: readonly (readonly [string, RequestListener])[] = [
  [
    'before the answer',
    (req: IncomingMessage, res: ServerResponse) => {
      dropBody(req, res)
      answer(res)
    },
  ],
  [
    'behind the answer',
    (req: IncomingMessage, res: ServerResponse) => {
      res.shouldKeepAlive = req.complete
      answer(res)
      dropBody(req, res)
    },
  ],
]

describe.for(ORDERS)('a refusal with its body dropped %s', ([, listener]) => {
  test('reaches a client that sends on until it sees the end, and no reset follows', async () => {
    await withServer(listener, async (port) => {
      using client = await connectRaw(port)
      await client.send(post(200_000))
      await client.send(new Uint8Array(100_000), { every: 10_000 })
      const response = await client.response()
      expect(response.status).toBe(413)
      expect(response.headers).toContainEqual(['Connection', 'close'])
      expect(response.body.toString()).toBe(ANSWER)
      await client.send(new Uint8Array(100_000), { every: 10_000 })
      expect(await client.end()).toEqual({ how: 'fin', rest: Buffer.alloc(0) })
    })
  })

  test('reaches a client that stops half-way, whose connection is closed a second later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const sockets: Socket[] = []
    await withServer(
      (req, res) => {
        sockets.push(req.socket)
        listener(req, res)
      },
      async (port) => {
        using client = await connectRaw(port)
        await client.send(post(200_000))
        const [response, [socket]] = [await client.response(), sockets]
        expect(response.body.toString()).toBe(ANSWER)
        while (vi.getTimerCount() === 0) await new Promise((next) => setImmediate(next))
        vi.advanceTimersByTime(999)
        expect(socket?.destroyed).toBe(false)
        vi.advanceTimersByTime(1)
        expect(socket?.destroyed).toBe(true)
      },
    )
  })

  test('reaches a client that has far more to send than anybody drops', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const requests: IncomingMessage[] = []
    await withServer(
      (req, res) => {
        requests.push(req)
        listener(req, res)
      },
      async (port) => {
        using client = await connectRaw(port)
        client.socket.on('error', () => undefined)
        await client.send(post(1e9))
        for (let sent = 0; sent < 40; sent += 1) client.socket.write(new Uint8Array(1_000_000))
        const response = await client.response()
        expect(response.body.toString()).toBe(ANSWER)
        // All that is taken has been taken when the socket has been still for some turns.
        const socket = requests[0]?.socket
        for (let [turns, last] = [0, -1]; turns < 200; turns += 1) {
          await new Promise((next) => setImmediate(next))
          if (socket?.bytesRead !== last) turns = 0
          last = socket?.bytesRead ?? 0
        }
        expect(socket?.bytesRead).toBeLessThan(1_000_000)
      },
    )
  })

  test('leaves the connection open when the body had come already', async () => {
    await withServer(
      (req, res) => {
        if (req.method === 'GET') res.end('again')
        else setTimeout(() => listener(req, res), 0).ref()
      },
      async (port) => {
        using client = await connectRaw(port)
        await client.send(`${post(5)}hello`)
        expect((await client.response()).status).toBe(413)
        await client.send(getRequest('/'))
        expect((await client.response()).body.toString()).toBe('again')
      },
    )
  })
})

test.for(['the rest comes', 'the client goes'])('nothing of the dropping is left when %s', async (ending) => {
  const requests: IncomingMessage[] = []
  const closed = Promise.withResolvers<void>()
  await withServer(
    (req, res) => {
      requests.push(req)
      req.socket.once('close', () => closed.resolve())
      dropBody(req, res)
      dropBody(req, res)
      expect(req.listenerCount('data')).toBe(1)
      answer(res)
    },
    async (port) => {
      using client = await connectRaw(port)
      await client.send(post(10))
      await client.response()
      if (ending === 'the rest comes') await client.send('0123456789')
      else client.socket.resetAndDestroy()
      await closed.promise
    },
  )
  expect(requests[0]?.listenerCount('data')).toBe(0)
  expect(Object.hasOwn(requests[0]?.socket ?? {}, 'destroySoon')).toBe(false)
})
