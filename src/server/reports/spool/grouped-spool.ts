import { createGroupedWrites } from '../../stores/grouped-writes.ts'
import type { Database } from '../../stores/open-database.ts'
import { createRecentEnvelopes } from './recent-envelopes.ts'
import type { FileSpool } from './spool-store.ts'
import { SpoolFullError } from '../intake/accepted-envelope.ts'
import { type Spool } from './spool.ts'

/**
 * How long a confirmed envelope may wait to be taken out, in ms. Nobody waits for it but the next one of its client, and
 * together with others it costs a fraction. What the end of the process keeps from being taken out is sent once more.
 */
const SETTLE_PATIENCE_MS = 10

/** What a grouped spool works with. */
export interface GroupedSpoolParts {
  /** Milliseconds, never going back. */
  readonly now?: () => number
  /** Told of each envelope that is in the file. */
  readonly kept?: () => void
}

/** A spool in a file, whose envelopes come and go in transactions that several share. */
export function createGroupedSpool(
  spool: FileSpool,
  database: Pick<Database, 'write'>,
  { now = () => performance.now(), kept = () => undefined }: GroupedSpoolParts = {},
): Spool {
  const writes = createGroupedWrites(database)
  const recent = createRecentEnvelopes()
  return {
    ...spool,
    async accept(envelope) {
      const id = await writes
        .write(() => spool.keep(envelope))
        .catch((thrown: unknown) => {
          // The commit is not the spool's own: it fails where the disk is full.
          throw thrown instanceof SpoolFullError ? thrown : new SpoolFullError('disk', thrown)
        })
      if (id === undefined) throw new SpoolFullError('bound')
      // Not before the commit: an id that was undone is given to another.
      recent.keep(id, envelope, now())
      kept()
    },
    read: (id) => recent.take(id) ?? spool.read(id),
    settle: (entry, lost) => writes.write(() => spool.settle(entry, lost), SETTLE_PATIENCE_MS),
  }
}
