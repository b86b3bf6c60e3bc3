import { clientKey } from '../../http/client-key.ts'
import { negotiateEncoding, STREAM_ENCODER_BYTES, type Encoding } from '../../http/content-encoding.ts'
import type { RequestContext } from '../context.ts'

/** What is needed of a request. */
type StreamedRequest = Pick<RequestContext, 'req' | 'clientAddress' | 'onFinish'> & {
  readonly services: Pick<RequestContext['services'], 'encoders'>
}

/** The coding of one streamed answer. */
export interface StreamEncoding {
  readonly encoding: Encoding
  /** Runs work with the compressor in its client's turn. */
  run(bytes: number, work: () => Promise<void>): Promise<void>
  /** Counts bytes that wait for the compressor; negative ones wait no more. */
  hold(bytes: number): void
}

/**
 * Coding of an answer that is about to be streamed. Takes the memory for its compressor until the answer is over.
 * @returns `undefined` to stream it unencoded: the client wants that, or there is no memory for one more compressor.
 */
export function takeStreamEncoding(context: StreamedRequest): StreamEncoding | undefined {
  const { req, services } = context
  const { memory, turns } = services.encoders
  const encoding = negotiateEncoding(req.headers['accept-encoding'] as string | undefined)
  if (encoding === undefined) return undefined
  const client = clientKey(context.clientAddress.address)
  if (req.method !== 'HEAD') {
    const bytes = STREAM_ENCODER_BYTES[encoding]
    if (memory.take(client, bytes) !== undefined) return undefined
    context.onFinish(() => memory.give(client, bytes))
  }
  return {
    encoding,
    run: (bytes, work) => turns.run(client, bytes, work),
    hold: (bytes) => memory.add(client, bytes),
  }
}
