/** Memory of the compressors of streamed answers: bounded, and shared between clients. */
import { expect, test } from 'vitest'
import { ENCODINGS, STREAM_ENCODER_BYTES } from '../../../src/server/http/content-encoding.ts'
import { createStreamEncoders } from '../../../src/server/http/stream-encoders.ts'
import { takeStreamEncoding } from '../../../src/server/request/answer/stream-encoding.ts'

type StreamedRequest = Parameters<typeof takeStreamEncoding>[0]

function world() {
  const encoders = createStreamEncoders()
  return {
    encoders,
    request(address: string, accepted: string | undefined, method = 'GET') {
      const listeners: (() => void)[] = []
      const request = {
        req: { method, headers: { 'accept-encoding': accepted } },
        clientAddress: { address },
        services: { encoders },
        onFinish: (listener: () => void) => void listeners.push(listener),
      }
      return {
        encoding: takeStreamEncoding(request as unknown as StreamedRequest)?.encoding,
        finish: () => listeners.forEach((listener) => listener()),
      }
    },
  }
}

test.for(ENCODINGS)('a client has half of it, and then its answers are sent without %s', (encoding) => {
  const { request } = world()
  const half = Math.floor(67_108_864 / STREAM_ENCODER_BYTES[encoding])
  const own = Array.from({ length: half }, () => request('192.0.2.1', encoding))
  expect(new Set(own.map((one) => one.encoding))).toEqual(new Set([encoding]))
  expect(request('192.0.2.1', encoding).encoding).toBeUndefined()
  expect(request('192.0.2.2', encoding).encoding).toBe(encoding)
  own.slice(0, 2).forEach((one) => one.finish())
  expect(request('192.0.2.1', encoding).encoding).toBe(encoding)
})

test('nothing is taken for what is not compressed', () => {
  const { request, encoders } = world()
  expect([request('192.0.2.1', undefined).encoding, request('192.0.2.1', 'zstd', 'HEAD').encoding]).toEqual([
    undefined,
    'zstd',
  ])
  expect(encoders.memory.taken).toBe(0)
})
