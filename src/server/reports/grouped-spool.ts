import { createGroupedWrites } from '../stores/grouped-writes.ts'
import type { Database } from '../stores/open-database.ts'
import { SpoolFullError, type LocalSpool, type Spool } from './spool.ts'

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
    settle: (entry, lost) => writes.write(() => spool.settle(entry, lost)),
  }
}
