import { createGroupedWrites } from '../stores/grouped-writes.ts'
import type { Database } from '../stores/open-database.ts'
import { SpoolFullError, type LocalSpool, type Spool } from './spool.ts'

/**
 * How long a confirmed envelope may wait to be taken out, in ms. Nobody waits for it but the next one of its client, and
 * together with others it costs a fraction. What the end of the process keeps from being taken out is sent once more.
 */
const SETTLE_PATIENCE_MS = 10

/** A spool in a file, whose envelopes come and go in transactions that several share. */
export function createGroupedSpool(spool: LocalSpool, database: Pick<Database, 'write'>): Spool {
  const writes = createGroupedWrites(database)
  return {
    ...spool,
    async accept(envelope) {
      try {
        await writes.write(() => spool.accept(envelope))
      } catch (thrown) {
        // The commit is not the spool's own: it fails where the disk is full.
        throw thrown instanceof SpoolFullError ? thrown : new SpoolFullError('disk', thrown)
      }
    },
    settle: (entry, lost) => writes.write(() => spool.settle(entry, lost), SETTLE_PATIENCE_MS),
  }
}
