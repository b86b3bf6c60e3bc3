import { createGroupedWrites } from '../../stores/grouped-writes.ts'
import type { Database } from '../../stores/open-database.ts'
import { createLargeBodies, PIECE_BYTES } from '../large-bodies.ts'
import { createRecentEnvelopes } from './recent-envelopes.ts'
import type { FileSpool } from './spool-store.ts'
import { SpoolFullError, type AcceptedEnvelope } from '../intake/accepted-envelope.ts'
import type { Spool, SpooledEnvelope } from './spool.ts'

/**
 * How long the removal of a confirmed envelope may wait, in ms. Only the next envelope of its client waits for it, and
 * a shared transaction costs a fraction. If the process ends before an envelope is removed, the envelope is sent again.
 */
const SETTLE_PATIENCE_MS = 10

/** Parts of a grouped spool. */
interface GroupedSpoolParts {
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** Called for each envelope that is in the file, and for each piece of a large one. */
  readonly kept?: (writes?: number) => void
}

/** A spool in a file that adds and removes envelopes in shared transactions. */
export function createGroupedSpool(
  spool: FileSpool,
  database: Database,
  { now = () => performance.now(), kept = () => undefined }: GroupedSpoolParts = {},
): Spool {
  const writes = createGroupedWrites(database)
  const recent = createRecentEnvelopes()
  const largeBodies = createLargeBodies(database, kept)

  function keep(envelope: AcceptedEnvelope): Promise<number | undefined> {
    const { body, receivedAt } = envelope
    if (body.length <= PIECE_BYTES) return writes.write(() => spool.keep(envelope))
    return largeBodies.write(body, receivedAt, async (pieces) => {
      const id = await writes.write(() => spool.keep(envelope, pieces))
      // After the transaction: what was evicted stays evicted. The pieces are removed.
      if (id === undefined) throw new SpoolFullError('bound')
      return id
    })
  }

  async function read(id: number): Promise<SpooledEnvelope | undefined> {
    const found = spool.find(id)
    if (found?.pieces === undefined) return found
    const body = await largeBodies.read(found.pieces)
    // Evicted meanwhile?
    return spool.find(id) === undefined ? undefined : { headers: found.headers, body }
  }

  return {
    ...spool,
    async accept(envelope) {
      const id = await keep(envelope).catch((thrown: unknown) => {
        // The commit is outside the spool's control: it fails if the disk is full.
        throw thrown instanceof SpoolFullError ? thrown : new SpoolFullError('disk', thrown)
      })
      if (id === undefined) throw new SpoolFullError('bound')
      // Not before the commit: the id of a rolled back entry is given to another.
      recent.keep(id, envelope, now())
      kept()
    },
    read: (id) => recent.take(id) ?? read(id),
    settle: (entry, lost) => writes.write(() => spool.settle(entry, lost), SETTLE_PATIENCE_MS),
  }
}
