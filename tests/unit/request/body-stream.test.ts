/** What of a compressed answer counts as waiting for its reader. */
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { ENCODINGS } from '../../../src/server/http/content-encoding.ts'
import { createBodyStream } from '../../../src/server/request/answer/body-stream.ts'

const LARGE = randomBytes(2_000_000)

test.for(ENCODINGS)('a reader that is faster than the compressor leaves nothing unread: %s', async (encoding) => {
  const socket = new PassThrough({ highWaterMark: 10_000_000 })
  const body = createBodyStream(socket as unknown as ServerResponse, encoding)
  const unread = vi.fn<(bytes: number) => void>()
  body.write(LARGE)
  body.end()
  body.tellUnread(unread)
  expect(unread).not.toHaveBeenCalled()
  await socket.resume().toArray()
  expect(unread).toHaveBeenCalled()
  expect(unread.mock.calls.filter(([bytes]) => bytes > 0)).toEqual([])
})

test.for([...ENCODINGS, undefined])('all that is left counts from when the reader is behind: %s', async (encoding) => {
  const socket = new PassThrough()
  const body = createBodyStream(socket as unknown as ServerResponse, encoding)
  const unread = vi.fn<(bytes: number) => void>()
  body.tellUnread(unread)
  body.write(LARGE)
  await vi.waitUntil(() => (unread.mock.lastCall?.[0] ?? 0) > 0)
  // Brotli takes a megabyte and more into its own memory.
  expect(unread.mock.lastCall?.[0]).toBeGreaterThanOrEqual(encoding === 'br' ? 65_536 : LARGE.length)
  socket.resume()
  await vi.waitUntil(() => unread.mock.lastCall?.[0] === 0)
})
