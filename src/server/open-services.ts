import { resolve } from 'node:path'
import type { Logger } from 'pino'
import { basePath } from '../shared/base-path.ts'
import type { DataLifetime } from './api/define-app.ts'
import { createDataCache, type DataCache, type DataCacheOptions } from './stores/cache/data-cache.ts'
import type { Config } from './config/config.ts'
import type { Readiness } from './process/readiness.ts'
import { createInbox, type InboxStore } from './reports/inbox/inbox-store.ts'
import { SpoolFullError } from './reports/intake/accepted-envelope.ts'
import { openReportDatabase, reportDatabasePath } from './reports/report-database.ts'
import { ApplicationSecrets } from './secrets/application-secrets.ts'
import { openSecrets } from './secrets/secrets.ts'
import { sessionTopic } from './secrets/session-life.ts'
import { CALLS, createIdempotencyStore, type FileRoom, type IdempotencyStore } from './stores/idempotency-store.ts'
import { createDiskRoom, type DiskRoom } from './stores/disk-room.ts'
import type { Database } from './stores/open-database.ts'
import { createCheckpointThread } from './stores/checkpoint-thread.ts'
import { createRateLimits, LIMITS, type RateLimits } from './stores/rate-limits.ts'
import { openRedis, type RedisLink } from './stores/redis-link.ts'
import { checkRedisMemory } from './stores/redis-memory.ts'
import { createRedisStore } from './stores/redis-store.ts'
import { createSessionStore, SESSIONS, type SessionStore } from './stores/session-store.ts'
import { createSqliteStore } from './stores/sqlite-store.ts'
import { openRuntimeDatabase, openSessionDatabase } from './stores/store-databases.ts'
import { createAfterwards } from './request/answer/afterwards.ts'
import { sharedIdempotencyStore, sharedRateLimits, watchSharedStore } from './stores/shared-first.ts'
import type { RequestServices } from './request/context.ts'
import { createLeftWork } from './request/running-work.ts'
import { createStreamEncoders } from './http/stream-encoders.ts'
import { limitAccess } from './request/limit-access.ts'
import { failClosed } from './request/session-access.ts'

/** The services, including those that only the runtime uses. */
export interface Services extends RequestServices {
  readonly inbox: InboxStore | undefined
  /** Of `dataDir`. */
  readonly room: DiskRoom
}

/** Facts about build and process that services use. */
interface ServiceOptions
  extends
    Pick<DataCacheOptions, 'buildId' | 'onRevalidate' | 'now' | 'drops'>,
    Pick<RequestServices, 'adoptAction' | 'texts' | 'site'> {
  /** Name of the application's package, if it has one. */
  readonly application?: string | undefined
  /** Default: the runtime's own. */
  readonly dataLifetime?: DataLifetime | undefined
  /** Whether the application reports errors: without that, there is no inbox. Default: `true`. */
  readonly hasReports?: boolean
  /** Absolute path of the source maps of this build, if any. */
  readonly mapsFolder?: string | undefined
}

/** Applications that share a store count separately: keys begin with the base path, if any. */
function limitsOfBase(limits: RateLimits): RateLimits {
  const base = basePath()
  return base === '' ? limits : { take: (key, ...rest) => limits.take(`${base} ${key}`, ...rest) }
}

/** @throws {RangeError} for what is not a number of seconds. */
function checkedLifetime(lifetime: DataLifetime): DataLifetime {
  for (const [name, seconds] of Object.entries(lifetime) as [string, unknown][]) {
    if (seconds === undefined || (typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds))) continue
    throw new RangeError(`dataLifetime.${name}: ${String(seconds)} is not a number of seconds, 0 or more`)
  }
  return lifetime
}

function openSharedStore(
  { redisUrl, redisPrefix }: Pick<Config, 'redisUrl' | 'redisPrefix'>,
  application: string | undefined,
  log: Logger,
): RedisLink | undefined {
  if (redisUrl === '') return undefined
  const redis = openRedis(redisUrl, log, { application: redisPrefix || application })
  checkRedisMemory(redis, log)
  return redis
}

/** Whoever fills the disk with reports does not keep everybody's lost answers from being repeated. */
const OF_CALLS = { leaves: 1 / 2 }

/** Signing out writes, too, and so does signing in where somebody else has to lose a session for it. */
const OF_SESSIONS = { leaves: 1 / 2 }

/** Creates the services of a server. Each file is opened on first use. */
export function createServices(
  config: Pick<Config, 'dataDir' | 'secretKeys' | 'sentryDsn' | 'redisUrl' | 'redisPrefix' | 'renderTimeoutMs'>,
  { onDraining }: Pick<Readiness, 'onDraining'>,
  log: Logger,
  { application, mapsFolder, adoptAction, texts, site, dataLifetime = {}, hasReports = true, ...cache }: ServiceOptions,
): Services {
  const dataDir = resolve(config.dataDir)
  const secrets = openSecrets({ secretKeys: config.secretKeys, dataDir }, log, cache.now)
  const redis = openSharedStore(config, application, log)
  const opened: {
    database?: Database
    limits?: RateLimits
    data?: DataCache
    calls?: IdempotencyStore
    reports?: Database
    checkpoints?: ReturnType<typeof createCheckpointThread>
    inbox?: InboxStore
    sessionFile?: Database
    sessions?: SessionStore
  } = {}
  const room = createDiskRoom(dataDir)
  const database = (): Database => (opened.database ??= room.counting(openRuntimeDatabase(dataDir)))
  const watch = watchSharedStore(log)

  function openLimits(): RateLimits {
    const own = createRateLimits(createSqliteStore(database(), LIMITS, () => room.mayGrow(1 / 4)))
    const shared = redis && createRateLimits(createRedisStore(redis, LIMITS))
    return limitsOfBase(shared === undefined ? own : sharedRateLimits(shared, own, watch))
  }

  function openIdempotencyStore(): IdempotencyStore {
    const entries = createSqliteStore(database(), CALLS, () => room.mayGrow(OF_CALLS.leaves))
    const write: FileRoom['write'] = (bytes, work) => room.write(database(), bytes, work, OF_CALLS)
    const own = createIdempotencyStore(entries, { write })
    const shared = redis && createIdempotencyStore(createRedisStore(redis, CALLS))
    return shared === undefined ? own : sharedIdempotencyStore(shared, own, watch)
  }

  function openSessions(): SessionStore {
    if (redis !== undefined) return createSessionStore(createRedisStore(redis, SESSIONS))
    const file = (opened.sessionFile = room.counting(openSessionDatabase(dataDir)))
    return createSessionStore(createSqliteStore(file, SESSIONS, () => room.mayGrow(OF_SESSIONS.leaves, file)))
  }

  function openInbox(): InboxStore {
    const { wrote } = (opened.checkpoints = createCheckpointThread(reportDatabasePath(dataDir)))
    const file = (opened.reports = room.counting(openReportDatabase(dataDir), () => wrote(Infinity)))
    return whileRoom(createInbox(file, { mapsFolder, wrote }), room, file)
  }

  const data = (): DataCache => (opened.data ??= createDataCache({ ...cache, redis, log }))
  const sessions = failClosed(
    () => (opened.sessions ??= openSessions()),
    (user) => {
      // Without a handler, no stream is open.
      if (cache.drops !== undefined) void data().revalidate([sessionTopic(user)])
    },
  )

  return {
    dataDir,
    room,
    dataLifetime: checkedLifetime(dataLifetime),
    secrets,
    sessions,
    applicationSecrets: new ApplicationSecrets(secrets),
    redis,
    afterwards: createAfterwards(),
    leftWork: createLeftWork(config.renderTimeoutMs),
    encoders: createStreamEncoders(),
    now: cache.now,
    drops: cache.drops,
    adoptAction,
    texts,
    site,
    onDraining,
    warnOnce: warnOnceTo(log),
    limits: limitAccess(() => (opened.limits ??= openLimits())),
    get data() {
      return data()
    },
    get openedData() {
      return opened.data
    },
    get calls() {
      return (opened.calls ??= openIdempotencyStore())
    },
    get inbox() {
      return config.sentryDsn !== '' || !hasReports ? undefined : (opened.inbox ??= openInbox())
    },
    dispose() {
      opened.data?.dispose()
      opened.database?.dispose()
      opened.sessionFile?.dispose()
      opened.checkpoints?.dispose()
      opened.reports?.dispose()
      redis?.dispose()
    },
  }
}

/** Takes nothing where the disk has no room for it. */
function whileRoom(inbox: InboxStore, room: DiskRoom, file: Database): InboxStore {
  return {
    ...inbox,
    take(envelope) {
      const free = (bytes: number): void => inbox.free(envelope, bytes)
      const taken = room.write(file, envelope.body.length, () => inbox.take(envelope), { free })
      if (taken === undefined) throw new SpoolFullError('disk')
      return taken
    },
  }
}

/** Keys beyond this are logged no more: they are few, unless a header differs for each request. */
const MOST_WARNINGS = 32

function warnOnceTo(log: Logger): RequestServices['warnOnce'] {
  const warned = new Set<string>()
  return (key, fields, message) => {
    if (warned.has(key) || warned.size === MOST_WARNINGS) return
    warned.add(key)
    log.warn(fields, message)
  }
}
