/** What follows a shell in gzip: all of it in order, and large parts off the main thread. */
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { startGzip } from '../../../src/server/http/gzip-member.ts'
import { continueGzip } from '../../../src/server/request/answer/body-stream.ts'

const LARGE = 300_000

test('a large part is not compressed while other requests wait, and what is written after it follows it', async () => {
  const start = await startGzip(Buffer.from('shell '))
  const socket = new PassThrough({ highWaterMark: 10_000_000 })
  const body = continueGzip(socket as unknown as ServerResponse, start)
  const drained = vi.fn<() => void>()
  body.onDrain(drained)
  const unread = vi.fn<(bytes: number) => void>()
  const large = Array.from({ length: LARGE / 10 }, (_, n) => String(n).padStart(10)).join('')

  body.write('small ')
  const atOnce = socket.readableLength
  body.write(large)
  body.write(' later')
  expect(socket.readableLength).toBe(atOnce)
  body.tellUnread(unread)
  expect([body.hasCapacity(), unread.mock.calls]).toEqual([false, []])

  await vi.waitUntil(() => body.hasCapacity())
  expect(unread).toHaveBeenCalledOnce()
  expect(drained).toHaveBeenCalledOnce()
  body.write(large)
  body.end()
  const bytes = Buffer.concat(await socket.toArray())
  expect(gunzipSync(bytes).toString()).toBe(`shell small ${large} later${large}`)
})

test('a reader that leaves ends the work', async () => {
  const socket = new PassThrough()
  const body = continueGzip(socket as unknown as ServerResponse, await startGzip(Buffer.from('shell ')))
  body.write('x'.repeat(LARGE))
  body.destroy()
  body.end()
  await vi.waitUntil(() => socket.closed)
  expect(socket.destroyed).toBe(true)
})
