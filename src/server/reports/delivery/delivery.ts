/** A spool with its drainer: for this instance alone, or for all that share a Redis. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { createCheckpointThread } from '../../stores/checkpoint-thread.ts'
import type { DiskRoom } from '../../stores/disk-room.ts'
import { RedisGone, type RedisLink } from '../../stores/redis-link.ts'
import { watchSharedStore } from '../../stores/shared-first.ts'
import { createDeliveryLease } from './delivery-lease.ts'
import { isOwnerGone, nameOwner } from './delivery-owner.ts'
import { startDrainer, type DeliveryClock, type DrainerOptions } from './drainer.ts'
import { createGroupedSpool } from '../spool/grouped-spool.ts'
import { createRedisDeliveryLease } from './redis-delivery-lease.ts'
import { createRedisSpool } from '../spool/redis-spool.ts'
import { openReportDatabase, reportDatabasePath } from '../report-database.ts'
import type { ReportStats, SpoolLevel } from '../report-counts.ts'
import { createSpool } from '../spool/spool-store.ts'
import { SpoolFullError, type AcceptedEnvelope, type Awaitable } from '../intake/accepted-envelope.ts'
import { type Spool } from '../spool/spool.ts'

/** Destination of accepted envelopes. */
export interface Outlet extends Pick<ReportStats, 'levels' | 'isFailing'> {
  /**
   * Keeps an envelope.
   * @throws {SpoolFullError} if it cannot be kept.
   */
  accept(envelope: AcceptedEnvelope): Awaitable<void>
  /**
   * Delivers what can be delivered in time.
   * @param signal ends the wait.
   * @returns whether nothing is left that only this instance could deliver.
   */
  flush(signal: AbortSignal): Promise<boolean>
  /** Stops the delivery, closes stores. */
  dispose(): void
}

/** Parts of a delivery. */
interface DeliveryParts extends Pick<DrainerOptions, 'upstream' | 'limits' | 'counts'> {
  /** As in `SpoolOptions`. */
  readonly destination: string
  readonly log: Logger
}

/** Clock of this process. */
export const SYSTEM_CLOCK: DeliveryClock = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds).unref()
    return () => clearTimeout(timer)
  },
}

/** Starts to deliver this instance's spool. */
export function openDelivery(
  { destination, ...parts }: DeliveryParts,
  { dataDir, room }: { /** Absolute path of `DATA_DIR`. */ readonly dataDir: string; readonly room: DiskRoom },
): Outlet {
  const checkpoints = createCheckpointThread(reportDatabasePath(dataDir))
  const database = room.counting(openReportDatabase(dataDir), () => checkpoints.wrote(Infinity))
  const file = createSpool(database, { destination })
  const spool = createGroupedSpool(file, database, { kept: checkpoints.wrote })
  const lease = createDeliveryLease(database, { destination, owner: nameOwner(randomUUID()), isGone: isOwnerGone })
  const drainer = startDrainer({ ...parts, spool, lease, clock: SYSTEM_CLOCK, random: Math.random })
  return {
    async accept(envelope) {
      const free = (bytes: number): void => file.free(envelope, bytes)
      const accepted = room.write(database, envelope.body.length, () => spool.accept(envelope), { free })
      if (accepted === undefined) throw new SpoolFullError('disk')
      await accepted
      drainer.wake()
    },
    flush: (signal) => drainer.stop(signal),
    levels: () => levelOf('disk', spool),
    isFailing: () => drainer.isFailing(),
    dispose() {
      void drainer.stop(AbortSignal.abort())
      checkpoints.dispose()
      database.dispose()
    },
  }
}

/**
 * Joins the delivery of the shared spool.
 * @param own keeps and delivers envelopes that the shared spool cannot take.
 */
export function shareDelivery({ destination, ...parts }: DeliveryParts, redis: RedisLink, own: Outlet): Outlet {
  const spool = createRedisSpool(redis, { destination })
  const watch = watchSharedStore(parts.log)
  const drainer = startDrainer({
    ...parts,
    spool,
    lease: createRedisDeliveryLease(redis, { destination, owner: nameOwner(randomUUID()), isGone: isOwnerGone }),
    clock: SYSTEM_CLOCK,
    random: Math.random,
    shared: true,
    isTold: (thrown) => thrown instanceof RedisGone,
  })

  /** @returns the error if the shared spool refuses it. */
  async function offer(envelope: AcceptedEnvelope): Promise<SpoolFullError | undefined> {
    try {
      await spool.accept(envelope)
      return undefined
    } catch (thrown) {
      if (thrown instanceof SpoolFullError) return thrown
      throw thrown
    }
  }

  return {
    async accept(envelope) {
      const answer = await watch.ask(() => offer(envelope))
      if (answer === undefined) return own.accept(envelope)
      if (answer.result !== undefined) throw answer.result
      drainer.wake()
    },
    async flush(signal) {
      const [empty] = await Promise.all([own.flush(signal), drainer.stop(signal)])
      return empty
    },
    levels: async () => (await Promise.all([own.levels(), levelOf('shared', spool)])).flat(),
    isFailing: () => drainer.isFailing() || own.isFailing() === true,
    dispose() {
      void drainer.stop(AbortSignal.abort())
      own.dispose()
    },
  }
}

async function levelOf(store: SpoolLevel['store'], spool: Pick<Spool, 'size'>): Promise<readonly SpoolLevel[]> {
  try {
    return [{ store, ...(await spool.size()) }]
  } catch {
    // Unreachable or full: logged elsewhere.
    return []
  }
}
