import { performance } from 'node:perf_hooks'
import { hash } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { DiskRoom } from '../stores/disk-room.ts'
import type { RedisLink } from '../stores/redis-link.ts'
import type { InboxStore } from './inbox/inbox-store.ts'
import { openDelivery, shareDelivery, SYSTEM_CLOCK, type Outlet } from './delivery/delivery.ts'
import { dsnText, INBOX_DSN, parseDsn, type Dsn } from '../config/dsn.ts'
import { createIntake, type Intake } from './intake/intake.ts'
import { createPacedUpstream } from './delivery/paced-upstream.ts'
import { createRateLimitState, type RateLimitState } from './delivery/rate-limit-state.ts'
import { createRelay } from './relay/relay.ts'
import { createReportCounts, type ReportCounts, type ReportStats } from './report-counts.ts'
import { createUpstream } from './delivery/upstream.ts'

/** Error reports of one server: the intake, and the outlet to the service or the inbox. */
export interface Reports {
  /** For the SDKs of both sides, without a secret. Without a service, the inbox's placeholder. */
  readonly dsn: string
  /** Path on this site to which browsers send their reports. */
  readonly tunnelPath: string
  /** Middleware; mount it directly after the request guard. */
  readonly relay: RequestHandler
  /** For reports of this server itself. */
  readonly intake: Intake
  /** For metrics. */
  readonly stats: ReportStats
  /**
   * Delivers what can be delivered in time; the rest stays in the spool for the next start.
   * @param signal ends the wait.
   * @returns whether nothing is left.
   */
  flush(signal: AbortSignal): Promise<boolean>
  /** Stops the delivery, closes stores and connections. */
  dispose(): void
}

/** The server's services that reports use. */
interface ReportServices {
  /** Absolute path of the folder of the embedded stores. */
  readonly dataDir: string
  /** Of that folder. */
  readonly room: DiskRoom
  /** `undefined` if a DSN is set. Opened on first use. */
  readonly inbox: InboxStore | undefined
  readonly redis: RedisLink | undefined
  /** Milliseconds since the epoch. */
  now(): number
}

/**
 * Creates the reports of a server. With a DSN, delivery starts at once, with the envelopes left by the last run.
 * @throws {Error} for a DSN that the configuration would have refused.
 */
export function createReports(
  config: Pick<Config, 'sentryDsn' | 'reportTunnelPath' | 'origins'>,
  services: ReportServices,
  log: Logger,
): Reports {
  const dsn = parseDsn(config.sentryDsn || INBOX_DSN)
  if (dsn === undefined) throw new Error('SENTRY_DSN is not a DSN')
  const limits = createRateLimitState()
  const counts = createReportCounts()
  const outlet = config.sentryDsn === '' ? openInbox(services) : openService(dsn, { limits, counts, log }, services)
  const path = config.reportTunnelPath
  const intake = counted(createIntake({ relayPath: path, accept: outlet.accept, now: services.now }), counts)
  return {
    dsn: dsnText(dsn),
    tunnelPath: path,
    relay: createRelay({ path, dsn, origins: config.origins, intake, limits, log, now: services.now }),
    intake,
    stats: { counts, levels: outlet.levels, isFailing: outlet.isFailing },
    flush: outlet.flush,
    dispose: outlet.dispose,
  }
}

/** For an application with `reports: false`: nothing is received, kept or sent. */
export function noReports(): Reports {
  return {
    dsn: '',
    tunnelPath: '',
    relay: (_req, _res, next) => next(),
    intake: { take: () => Promise.resolve({ eventId: undefined, kept: false }) },
    stats: { counts: createReportCounts(), levels: () => Promise.resolve([]), isFailing: () => undefined },
    flush: () => Promise.resolve(true),
    dispose: () => undefined,
  }
}

function counted(intake: Intake, counts: Pick<ReportCounts, 'add'>): Intake {
  return {
    async take(bytes, sender) {
      const receipt = await intake.take(bytes, sender)
      counts.add(receipt.kept ? 'kept' : 'left-out')
      return receipt
    },
  }
}

/** The first report or reader opens the store, and the services close it. */
function openInbox(services: Pick<ReportServices, 'inbox'>): Outlet {
  return {
    accept: (envelope) => services.inbox?.take(envelope),
    flush: () => Promise.resolve(true),
    levels: () => Promise.resolve([]),
    isFailing: () => undefined,
    dispose: () => undefined,
  }
}

/** Kept in Redis if instances share one; otherwise, and during its outages, on this instance's disk. */
function openService(
  dsn: Dsn,
  own: { readonly limits: RateLimitState; readonly counts: ReportCounts; readonly log: Logger },
  { redis, ...place }: Pick<ReportServices, 'dataDir' | 'redis' | 'room'>,
): Outlet {
  const upstream = createUpstream(dsn)
  const paced = createPacedUpstream(upstream, { ...SYSTEM_CLOCK, idleShare: createIdleShare() })
  const parts = { destination: hash('sha256', dsnText(dsn), 'hex'), upstream: paced, ...own }
  const disk = openDelivery(parts, place)
  const outlet = redis === undefined ? disk : shareDelivery(parts, redis, disk)
  return {
    ...outlet,
    dispose() {
      outlet.dispose()
      upstream.dispose()
    },
  }
}

/**
 * Measures the idle share of this process's event loop. A processor shared with others makes it look busier, not idler.
 * @returns a function that returns the share since its last call, 0 to 1.
 */
function createIdleShare(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return 1 - utilization
  }
}
