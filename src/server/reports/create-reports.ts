import { hash, randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { RequestServices } from '../request/services.ts'
import { createDeliveryLease } from './delivery-lease.ts'
import { isOwnerGone, nameOwner } from './delivery-owner.ts'
import { startDrainer, type DeliveryClock } from './drainer.ts'
import { dsnText, INBOX_DSN, parseDsn, type Dsn } from './dsn.ts'
import { createIntake, type Intake } from './intake.ts'
import { createRateLimitState, type RateLimitState } from './rate-limit-state.ts'
import { createRelay } from './relay.ts'
import { openReportDatabase } from './spool-database.ts'
import { createSpool } from './spool-store.ts'
import { SpoolFullError, type AcceptedEnvelope } from './spool.ts'
import { createUpstream } from './upstream.ts'

/** Error reports of one server: the way in, and the way on to the service or into the inbox. */
export interface Reports {
  /** For the SDKs of both sides, without a secret. Where no service is configured, the inbox's made-up one. */
  readonly dsn: string
  /** Path of this site at which browsers leave their reports. */
  readonly tunnelPath: string
  /** To stand directly behind the request guard. */
  readonly relay: RequestHandler
  /** For reports of this server itself. */
  readonly intake: Intake
  /**
   * Delivers what can be delivered before the end; the rest stays in the spool for the next start.
   * @param signal ends the wait.
   * @returns whether nothing is left.
   */
  flush(signal: AbortSignal): Promise<boolean>
  /** Ends the delivery, closes stores and connections. */
  dispose(): void
}

/** What kept envelopes go to. */
interface Outlet extends Pick<Reports, 'flush' | 'dispose'> {
  accept(envelope: AcceptedEnvelope): void
}

const SYSTEM_CLOCK: DeliveryClock = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds).unref()
    return () => clearTimeout(timer)
  },
}

/**
 * Puts the reports of a server together. With a DSN the delivery begins at once, with what the last run has left.
 * @throws {Error} for a DSN that the configuration would have refused.
 */
export function createReports(
  config: Pick<Config, 'sentryDsn' | 'reportTunnelPath' | 'origins'>,
  services: Pick<RequestServices, 'dataDir' | 'inbox'>,
  log: Logger,
): Reports {
  const dsn = parseDsn(config.sentryDsn || INBOX_DSN)
  if (dsn === undefined) throw new Error('SENTRY_DSN is no DSN')
  const limits = createRateLimitState()
  const outlet = config.sentryDsn === '' ? openInbox(services) : openDelivery(dsn, limits, services.dataDir, log)
  const path = config.reportTunnelPath
  const intake = createIntake({ relayPath: path, accept: outlet.accept, now: Date.now })
  return {
    dsn: dsnText(dsn),
    tunnelPath: path,
    relay: createRelay({ path, dsn, origins: config.origins, intake, limits, log, now: Date.now }),
    intake,
    flush: outlet.flush,
    dispose: outlet.dispose,
  }
}

/** The store is opened by the first report or reader, and closed with the services. */
function openInbox(services: Pick<RequestServices, 'inbox'>): Outlet {
  return {
    accept(envelope) {
      const { inbox } = services
      if (inbox === undefined) throw new SpoolFullError('disk')
      inbox.accept(envelope)
    },
    flush: () => Promise.resolve(true),
    dispose: () => undefined,
  }
}

function openDelivery(dsn: Dsn, limits: RateLimitState, dataDir: string, log: Logger): Outlet {
  const destination = hash('sha256', dsnText(dsn), 'hex')
  const database = openReportDatabase(dataDir)
  const spool = createSpool(database, { destination })
  const upstream = createUpstream(dsn)
  const lease = createDeliveryLease(database, { destination, owner: nameOwner(randomUUID()), isGone: isOwnerGone })
  const drainer = startDrainer({ spool, lease, upstream, limits, log, clock: SYSTEM_CLOCK, random: Math.random })
  return {
    accept(envelope) {
      spool.accept(envelope)
      drainer.wake()
    },
    flush: (signal) => drainer.stop(signal),
    dispose() {
      void drainer.stop(AbortSignal.abort())
      upstream.dispose()
      database.dispose()
    },
  }
}
