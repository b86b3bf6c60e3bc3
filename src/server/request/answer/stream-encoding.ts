import { clientKey } from '../../http/client-key.ts'
import { negotiateEncoding, STREAM_ENCODER_BYTES, type Encoding } from '../../http/content-encoding.ts'
import { createShares, type Shares } from '../../http/shares.ts'
import type { RequestContext } from '../context.ts'

const MOST_BYTES = 134_217_728 // 256 compressors of zstd

/** Memory of the compressors of streamed answers: 128 MiB, with a share for each client. Starts empty. */
export function createStreamEncoders(): Shares {
  return createShares({ most: () => MOST_BYTES })
}

/** What is needed of a request. */
type StreamedRequest = Pick<RequestContext, 'req' | 'clientAddress' | 'onFinish'> & {
  readonly services: Pick<RequestContext['services'], 'encoders'>
}

/**
 * Coding of an answer that is about to be streamed. Takes the memory for its compressor until the answer is over.
 * @returns `undefined` to stream it unencoded: the client wants that, or there is no memory for one more compressor.
 */
export function takeStreamEncoding(context: StreamedRequest): Encoding | undefined {
  const { req, services } = context
  const encoding = negotiateEncoding(req.headers['accept-encoding'] as string | undefined)
  if (encoding === undefined || req.method === 'HEAD') return encoding
  const client = clientKey(context.clientAddress.address)
  const bytes = STREAM_ENCODER_BYTES[encoding]
  if (services.encoders.take(client, bytes) !== undefined) return undefined
  context.onFinish(() => services.encoders.give(client, bytes))
  return encoding
}
