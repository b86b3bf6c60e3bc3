import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { withBasePath } from '../shared/base-path.ts'
import { createModuleCache } from '../client/react/module-cache.ts'
import { compileRules } from '../shared/rules/compile-rules.ts'
import { bindPublicEnv } from '../shared/public-env.ts'
import { createRouteTable } from '../shared/route-table.ts'
import { validateRouteTable } from '../shared/route-table-faults.ts'
import type { AppDefinition } from './api/define-app.ts'
import { bindEnv, type Environment } from './api/define-env.ts'
import { DAY_MS } from './assets/kept-builds.ts'
import { createKeptFiles, type KeptFiles } from './assets/kept-files.ts'
import { NO_ASSETS, type AssetManifest } from './assets/manifest.ts'
import { checkTunnelPath } from './config/check-tunnel-path.ts'
import { ConfigError, readConfig, type Config } from './config/config.ts'
import { createHeldBodies } from './http/body/held-bodies.ts'
import { checkOrigins } from './http/named-origins.ts'
import { createShares, warnOfOneAddress } from './http/shares.ts'
import { createServices, type Services } from './open-services.ts'
import type { CountConnections } from './process/metrics/open-metrics.ts'
import { createReadiness } from './process/readiness.ts'
import { createReports, noReports } from './reports/create-reports.ts'
import { SYSTEM_CLOCK } from './reports/delivery/delivery.ts'
import { followOutgoingRequests } from './reports/sdk/outgoing-requests.ts'
import { createPageRecorder, type PageRecorder } from './reports/sdk/page-recorder.ts'
import { createServerReporter } from './reports/sdk/server-reporter.ts'
import { createUnreadAnswers } from './request/admission/unread-answers.ts'
import { createAdmission } from './request/admission/admission.ts'
import { limitVisitors } from './request/admission/visitor-limits.ts'
import { describeErrors } from './request/answer/logged-errors.ts'
import { createRequestJudge } from './request/judge-request.ts'
import {
  requestLogInDevelopment,
  requestLogThrough,
  requestLogTo,
  type RequestObserver,
} from './request/request-log.ts'
import { createIdempotentCalls } from './routes/actions/idempotent-calls.ts'
import { createActionRegistry, type ActionAdoption, type ActionModules } from './routes/actions/registry.ts'
import type { ActionParts } from './routes/actions/receive-call.ts'
import type { CallJudge } from './routes/actions/take-action.ts'
import { createDropTopics } from './routes/resources/drop-topics.ts'
import { createSessionWatch } from './routes/resources/session-watch.ts'
import { createDocumentPolicies, type PolicyOptions } from './routes/render/document-policy.ts'
import { createEnvBlock } from './routes/render/env-block.ts'
import { createImportMap } from './routes/render/import-map.ts'
import type { SharedMarkup } from './routes/render/route-assets.ts'
import { createDocumentRenderer } from './routes/render/serve-document.ts'
import { createUrlDecider } from './routes/decide/url-decider.ts'
import { createRequestForwarder } from './routes/proxy/forward-request.ts'
import { loadExpressionEngine } from './routes/decide/expression-engine.ts'
import { askedRoutes } from './routes/decide/asked-routes.ts'
import { routeScope } from './routes/decide/route-scope.ts'
import { DropTimes } from './stores/cache/drop-times.ts'
import { createDocumentCache } from './stores/cache/document-cache.ts'

/** Options of `createApp`. */
export interface CreateAppOptions {
  readonly app: AppDefinition
  /** Default: `readConfig({})`. */
  readonly config?: Config
  /** The variables that the application's own `env` reads. Default: `process.env`. */
  readonly environment?: Environment
  /** Output of the build; without it documents have no scripts and styles. */
  readonly assets?: {
    readonly manifest: AssetManifest
    /** Absolute path of the folder behind `/_m/assets/`. */
    readonly folder: string
    /** Absolute path of the source maps of those files, for the embedded inbox. */
    readonly maps?: string
    /** Absolute path of the folder in which the build keeps former builds. */
    readonly former?: string
  }
  /** Action modules, by path relative to the application's folder: `millrace:actions` in a build. */
  readonly actions?: ActionModules
  /**
   * Whether failures of this server are reported like those of browsers; they are always logged. Default: only if a DSN
   * is set.
   */
  readonly reportFailures?: boolean
  /** Replaces the runtime's own logger. */
  readonly log?: Logger
  /** Destination of the runtime's own logger for its JSON lines; default: stdout. Not used with `log`. */
  readonly logDestination?: DestinationStream
  /** Called for each request when it is over. */
  readonly observe?: RequestObserver
  /** Counts the open connections of the server; absent if the server is not ours. */
  readonly connections?: CountConnections
  /**
   * Drops tags and paths in the other processes that serve the same URL when they are dropped here. Does not reject.
   * Its second argument is when they were dropped, in microseconds since the epoch.
   */
  readonly onRevalidate?: ((targets: readonly string[], at: number) => Promise<void>) | undefined
  /**
   * Whether the application is middleware of another Express server: that answers what the application does not, and its
   * own health checks. Default: `false`.
   */
  readonly isEmbedded?: boolean
  /**
   * Whether the pages become files, and a server of files answers with them. Such pages have no report relay, no drops and no
   * limits. Default: `false`.
   */
  readonly forFiles?: boolean
  /** Clock of sessions, caches, limits and idempotency keys, in ms since the epoch; default: the system's. For tests. */
  readonly now?: () => number
  /** Gives actions that no build has named their ids. For tests. */
  readonly adoption?: ActionAdoption
  /** Number of this process among several, for the log. */
  readonly worker?: number | undefined
}

/** Of the places of resource routes: the rest is for requests that end. */
const EVENT_STREAMS_SHARE = 0.75
const MOST_UPLOADS = 1_000 // that arrive or run at one time; each may hold a file

/** The parts of an application. */
export type AppParts = ReturnType<typeof createAppParts>

/**
 * Creates the parts of an application; `createApp` connects them to Express.
 * @throws as `createApp`.
 */
export function createAppParts(options: CreateAppOptions) {
  const { app: definition, config = readConfig({}), assets, onRevalidate, adoption, forFiles = false } = options
  const now = options.now ?? (() => Date.now())
  const publicEnv = definition.env && bindEnv(definition.env, options.environment ?? process.env)
  bindPublicEnv(publicEnv)
  const envBlock = publicEnv && createEnvBlock(publicEnv)
  validateRouteTable(definition.routes)
  const table = createRouteTable(definition.routes)
  if (definition.reports !== false) checkTunnelPath(config.reportTunnelPath, table)
  const { log, requestLog } = createLogs(options, config)
  const manifest = assets?.manifest ?? NO_ASSETS
  const modules = createModuleCache()
  const readiness = createReadiness()
  const onGreedy = warnOfOneAddress(config.trustProxy, log)
  const unread = createUnreadAnswers()
  const admission = createAdmission({ limit: config.maxPendingRenders, onGreedy, unread })
  const judge = createRequestJudge(config)
  const scope = routeScope(definition)
  const rules = compileRules(definition.rules, loadExpressionEngine)
  const hasMiddleware = (definition.middleware ?? []).length > 0
  const isEmbedded = options.isEmbedded === true
  const services = createServices(config, readiness, log, {
    application: manifest.application,
    mapsFolder: assets?.maps,
    buildId: manifest.buildId,
    onRevalidate,
    site: { forFiles, publicEnvHash: envBlock?.hash },
    now,
    adoptAction: adoption?.adopt,
    // Without a handler there is no event stream, and answers need no time.
    drops: !forFiles && table.routes.some(({ kind }) => kind === 'handler') ? new DropTimes(now) : undefined,
    dataLifetime: definition.dataLifetime,
    hasReports: definition.reports !== false,
    texts: definition.texts && { of: definition.texts, match: table.match },
  })
  // Drops of other instances count from the start.
  if (table.routes.some((route) => route.definition.cache === 'shared')) void services.data
  const reporting = createReporting(options, config, services, log)
  const visitorLimits = forFiles ? undefined : limitVisitors(definition.security?.limits, now)
  const calls: CallJudge = { registry: createActionRegistry(options.actions ?? {}, adoption), origins: config.origins }
  const actions: ActionParts = {
    registry: calls.registry,
    modules,
    calls: createIdempotentCalls(services, now, (context) => admission.turnWhenDue(context)),
    admission,
    bodyLimit: config.actionBodyLimit,
    heldBodies: createHeldBodies(),
    uploads: createShares({ most: () => MOST_UPLOADS, halves: true }),
    origins: config.origins,
    segments: new Set(manifest.actionSegments),
    refusesForm: visitorLimits?.refusesForm,
  }
  return {
    ...reporting,
    definition,
    config,
    table,
    log,
    requestLog,
    manifest,
    modules,
    readiness,
    onGreedy,
    hasMiddleware,
    isEmbedded,
    forFiles,
    admission,
    streams: createShares({ most: () => config.maxOpenStreams, halves: true, onGreedy }),
    unread,
    eventStreams: {
      places: createShares({
        most: () => Math.ceil(config.maxOpenStreams * EVENT_STREAMS_SHARE),
        halves: true,
        onGreedy,
      }),
      topics: createDropTopics(services),
      sessions: createSessionWatch(services),
    },
    judge,
    decider: createUrlDecider(rules, table, judge),
    forwarder: createRequestForwarder(config.origins),
    scope,
    services,
    documents: createDocumentCache(services, now),
    visitorLimits,
    calls,
    actions,
    keptFiles: assets && keptFilesOf(assets.former, config),
    renderer: createDocumentRenderer({
      document: definition.document,
      modules,
      manifest,
      shared: { ...sharedMarkup(definition, manifest, reporting.recorder, reporting.reports.tunnelPath), envBlock },
      renderTimeoutMs: config.renderTimeoutMs,
      scope,
      forFiles,
      asks: askedRoutes(table, rules, hasMiddleware || isEmbedded),
    }),
  }
}

function createLogs({ log: given, logDestination, worker }: CreateAppOptions, { logLevel }: Config) {
  if (given !== undefined) return { log: given, requestLog: requestLogThrough(given) }
  const destination = logDestination ?? pino.destination(1)
  const base = worker === undefined ? null : { worker }
  const formatters = { log: describeErrors }
  const log = pino({ level: logLevel, base, formatters, serializers: { err: keepDescribed } }, destination)
  if (process.env['NODE_ENV'] === 'development') return { log, requestLog: requestLogInDevelopment(log) }
  return { log, requestLog: requestLogTo(destination, log, worker) }
}

/** Destination of failures, of this server and of its pages. */
function createReporting(
  { app: { reports: asked }, assets, forFiles, reportFailures }: CreateAppOptions,
  config: Config,
  services: Services,
  log: Logger,
) {
  if (forFiles === true) return { reports: noReports() }
  if (asked === false) {
    if (config.sentryDsn !== '') {
      throw new ConfigError('SENTRY_DSN', 'app.ts has reports: false. Unset the variable, or take reports: false out')
    }
    return { reports: noReports() }
  }
  const { sentryTracesSampleRate: sampleRate, sentryEnvironment: environment } = config
  const { buildId, reports: script } = assets?.manifest ?? NO_ASSETS
  const release = config.sentryRelease || buildId
  const reports = createReports(config, services, log)
  const { dsn, tunnelPath, intake } = reports
  const consent = asked?.consent === 'ask' ? { consent: true as const } : {}
  const recorder =
    script &&
    createPageRecorder(script, {
      dsn,
      tunnel: withBasePath(tunnelPath),
      release,
      environment,
      rate: sampleRate,
      ...consent,
    })
  const now = (): number => performance.now()
  const reporter =
    (reportFailures ?? config.sentryDsn !== '')
      ? createServerReporter({
          intake,
          dsn,
          release,
          environment,
          sampleRate,
          log,
          now,
          timeOrigin: performance.timeOrigin,
          random: Math.random,
          after: SYSTEM_CLOCK.after,
        })
      : undefined
  const traceOrigins = checkOrigins('reports.traceOrigins', asked?.traceOrigins)
  const isTracing = reporter !== undefined && (sampleRate > 0 || traceOrigins.length > 0)
  return {
    reports,
    recorder,
    reporter,
    outgoing: isTracing ? followOutgoingRequests({ traceOrigins, now }) : undefined,
    policyReports: { path: tunnelPath, origins: config.origins, release, environment, intake, now: services.now },
  }
}

function sharedMarkup(
  { reports, security }: AppDefinition,
  manifest: AssetManifest,
  recorder: PageRecorder | undefined,
  tunnelPath: string,
): SharedMarkup {
  const importMap = security?.integrity === 'all' ? createImportMap(manifest) : undefined
  // Browsers report policy violations at once, before consent can be given.
  const tells = recorder !== undefined && reports !== false && reports?.consent !== 'ask'
  const options: PolicyOptions = {
    reportPath: tells ? withBasePath(tunnelPath) : undefined,
    trustedTypes: security?.trustedTypes,
    formTargets: checkOrigins('security.formTargets', security?.formTargets),
    sources: security?.sources,
    inline: [recorder?.source, importMap?.source].filter((source) => source !== undefined),
  }
  const [plain, secure] = [createDocumentPolicies(options, false), createDocumentPolicies(options, true)]
  return { recorder, importMap, policiesFor: (isSecure) => (isSecure ? secure : plain) }
}

function keptFilesOf(former: string | undefined, config: Pick<Config, 'assetsDir' | 'keepAssetsDays'>): KeptFiles {
  return createKeptFiles({
    folders: [former, config.assetsDir].filter((folder) => folder !== undefined),
    keepMs: config.keepAssetsDays * DAY_MS,
    now: Date.now,
  })
}

/** Errors are described before; pino's own serializer would treat the description as an error. */
function keepDescribed(described: unknown): unknown {
  return described
}
