import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readStream, StreamError } from 'millrace/testing'

/** The origin of a server that answers by this. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('parts are there as they arrive, with their times, and characters stay whole', async () => {
  const next = Promise.withResolvers<void>()
  const [first, second] = [Buffer.from('shell é').subarray(0, -1), Buffer.from('é').subarray(1)]
  const origin = await serve(async (_req, res) => {
    res.write(first)
    await next.promise
    res.end(Buffer.concat([second, Buffer.from(' late')]))
  })
  await using stream = readStream(await fetch(origin))
  expect(await stream.until('shell')).toBe('shell ')
  expect(stream.text).not.toContain('late')
  next.resolve()
  expect(await stream.until(/l(a)te/)).toBe('shell é late')
  expect(await stream.end()).toBe('shell é late')
  expect(stream.parts.map(({ text }) => text).join('')).toBe('shell é late')
  expect(stream.parts.length).toBeGreaterThan(1)
  const times = stream.parts.map(({ at }) => at)
  expect(times).toEqual(times.toSorted((one, other) => one - other))
})

test('an answer of node:http is read in the same way', async () => {
  const origin = await serve((_req, res) => void res.end('whole'))
  const answer = await new Promise<IncomingMessage>((resolve) => get(origin, resolve))
  expect(await readStream(answer).end()).toBe('whole')
})

test('an answer that ends without the text says what it has sent', async () => {
  const origin = await serve((_req, res) => void res.end('something else'))
  const failure = readStream(await fetch(origin)).until('wanted')
  await expect(failure).rejects.toThrow(
    'The answer has ended without wanted. It has sent 14 characters: "something else"',
  )
})

test('an answer that breaks off fails', async () => {
  const origin = await serve((_req, res) => {
    res.write('half')
    setImmediate(() => res.destroy())
  })
  await expect(readStream(await fetch(origin)).end()).rejects.toThrow('terminated')
})

test('an answer that never ends is left by a signal, or by leaving', async () => {
  const gone: Promise<void>[] = []
  const origin = await serve((_req, res) => {
    gone.push(new Promise((resolve) => res.once('close', resolve)))
    res.write('so far')
  })
  const controller = new AbortController()
  const aborted = readStream(await fetch(origin), { signal: controller.signal })
  await aborted.until('so far')
  const failure = aborted.until('more')
  controller.abort()
  await expect(failure).rejects.toThrow(StreamError)
  await expect(failure).rejects.toThrow('"so far"')
  {
    await using left = readStream(await fetch(origin))
    await left.until('so far')
  }
  await Promise.all(gone)
  expect(gone).toHaveLength(2)
})

test('an answer without a bound is cut off', async () => {
  const origin = await serve((_req, res) => {
    const more = (): void => {
      while (!res.destroyed && res.write('x'.repeat(10_000)));
    }
    res.on('drain', more)
    more()
  })
  const stream = readStream(await fetch(origin), { limit: 100_000 })
  await expect(stream.end()).rejects.toThrow('longer than 100000 characters')
})
