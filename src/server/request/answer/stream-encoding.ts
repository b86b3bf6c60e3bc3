import { createByteTurns, type ByteTurns } from '../../http/byte-turns.ts'
import { clientKey } from '../../http/client-key.ts'
import { negotiateEncoding, STREAM_ENCODER_BYTES, type Encoding } from '../../http/content-encoding.ts'
import { createShares, type Shares } from '../../http/shares.ts'
import type { RequestContext } from '../context.ts'

const MOST_BYTES = 134_217_728 // 256 compressors of zstd

/** Compressed at a time: three pieces. Node's pool has four threads, and looks up files, too. */
const MOST_AT_ONCE_BYTES = 196_608

/** The compressors of all streamed answers. */
export interface StreamEncoders {
  /** Their memory, and what waits for them, in bytes: 128 MiB, with a share for each client. */
  readonly memory: Shares
  /** Clients take turns. */
  readonly turns: ByteTurns
}

/** Starts without any. */
export function createStreamEncoders(): StreamEncoders {
  return { memory: createShares({ most: () => MOST_BYTES }), turns: createByteTurns(MOST_AT_ONCE_BYTES) }
}

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
