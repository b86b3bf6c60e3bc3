/** What of a compressed answer counts as waiting for its reader. */
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { ENCODINGS, type Encoding } from '../../../src/server/http/content-encoding.ts'
import { createByteTurns } from '../../../src/server/http/byte-turns.ts'
import { createBodyStream } from '../../../src/server/request/answer/create-body-stream.ts'
import type { StreamEncoding } from '../../../src/server/request/answer/stream-encoding.ts'

const LARGE = randomBytes(2_000_000)

/** A coding whose turns and bytes are seen. */
function codingOf(encoding: Encoding | undefined, turns = createByteTurns(196_608)) {
  const state = { held: 0, most: 0 }
  const coding: StreamEncoding | undefined = encoding && {
    encoding,
    run: (bytes, work) => turns.run('192.0.2.1', bytes, work),
    hold(bytes) {
      state.held += bytes
      state.most = Math.max(state.most, state.held)
    },
  }
  return { coding, state }
}

test.for(ENCODINGS)('a reader that is faster than the compressor leaves nothing unread: %s', async (encoding) => {
  const socket = new PassThrough({ highWaterMark: 10_000_000 })
  const { coding, state } = codingOf(encoding)
  const body = createBodyStream(socket as unknown as ServerResponse, coding)
  const unread = vi.fn<(bytes: number) => void>()
  body.write(LARGE)
  body.end()
  body.tellUnread(unread)
  expect(unread).not.toHaveBeenCalled()
  await socket.resume().toArray()
  expect(unread).toHaveBeenCalled()
  expect(unread.mock.calls.filter(([bytes]) => bytes > 0)).toEqual([])
  expect(state).toEqual({ held: 0, most: LARGE.length })
})

test.for([...ENCODINGS, undefined])('all that is left counts from when the reader is behind: %s', async (encoding) => {
  const socket = new PassThrough()
  const body = createBodyStream(socket as unknown as ServerResponse, codingOf(encoding).coding)
  const unread = vi.fn<(bytes: number) => void>()
  body.tellUnread(unread)
  body.write(LARGE)
  await vi.waitUntil(() => (unread.mock.lastCall?.[0] ?? 0) > 0)
  // Some is in the compressor.
  expect(unread.mock.lastCall?.[0]).toBeGreaterThan(LARGE.length * 0.8)
  socket.resume()
  await vi.waitUntil(() => unread.mock.lastCall?.[0] === 0)
})

test.for(ENCODINGS)('a reader that stops keeps no turn, and one that leaves keeps nothing: %s', async (encoding) => {
  const turns = createByteTurns(65_536)
  const [slow, quick] = [new PassThrough(), new PassThrough()]
  const stopped = codingOf(encoding, turns)
  const one = createBodyStream(slow as unknown as ServerResponse, stopped.coding)
  one.write(LARGE)
  await vi.waitUntil(() => slow.writableNeedDrain)
  const other = createBodyStream(quick as unknown as ServerResponse, codingOf(encoding, turns).coding)
  other.write(LARGE)
  other.end()
  const bytes = Buffer.concat(await quick.toArray())
  const decoded =
    encoding === 'br'
      ? brotliDecompressSync(bytes)
      : encoding === 'gzip'
        ? gunzipSync(bytes)
        : zstdDecompressSync(bytes)
  expect(decoded.equals(LARGE)).toBe(true)
  expect(stopped.state.held).toBeGreaterThan(0)
  one.destroy()
  await vi.waitUntil(() => stopped.state.held === 0)
})
