import { createByteTurns, type ByteTurns } from './byte-turns.ts'
import { createShares, type Shares } from './shares.ts'

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
