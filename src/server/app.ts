import express, { type Express } from 'express'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { pino, type DestinationStream, type Logger } from 'pino'
import { createModuleCache } from '../client/react/module-cache.ts'
import { compileRules } from '../shared/rules/compile-rules.ts'
import { createRouteTable } from '../shared/route-table.ts'
import { validateRouteTable } from '../shared/route-table-faults.ts'
import { createCallsOnce } from './routes/actions/call-once.ts'
import { createHeldBodies } from './http/body/held-bodies.ts'
import { createActionRegistry, type ActionModules } from './routes/actions/registry.ts'
import type { ActionParts } from './routes/actions/serve-action.ts'
import { takeActions, type CallJudge } from './routes/actions/take-action.ts'
import { DAY_MS } from './assets/kept-builds.ts'
import { createKeptFiles, type KeptFiles } from './assets/kept-files.ts'
import { NO_ASSETS, type AssetManifest } from './assets/manifest.ts'
import { createDocumentCache } from './stores/cache/document-cache.ts'
import type { Config } from './config/config.ts'
import { readConfig } from './config/config.ts'
import type { AppDefinition } from './api/define-app.ts'
import { createAdmission, type Admission } from './request/admission/admission.ts'
import { answerFailures } from './routes/answer-failures.ts'
import { createAppLife, type AppLife } from './process/app-life.ts'
import { limitVisitors } from './request/admission/visitor-limits.ts'
import { requestLogThrough, requestLogTo, type RequestObserver } from './request/request-log.ts'
import { createReadiness, type Readiness } from './process/readiness.ts'
import { oneRequestAtATime } from './request/admission/request-queue.ts'
import { createShares, warnOfOneAddress } from './http/shares.ts'
import { SYSTEM_CLOCK } from './reports/delivery/delivery.ts'
import { checkTunnelPath } from './config/check-tunnel-path.ts'
import { createReports, type Reports } from './reports/create-reports.ts'
import { createPolicyRelay } from './reports/relay/policy-relay.ts'
import { followOutgoingRequests } from './reports/sdk/outgoing-requests.ts'
import { createPageRecorder, type PageRecorder } from './reports/sdk/page-recorder.ts'
import { type ServerReporter } from './request/request-reporter.ts'
import { createServerReporter } from './reports/sdk/server-reporter.ts'
import { createDocumentPolicies, type PolicyOptions } from './routes/render/document-policy.ts'
import { createImportMap } from './routes/render/import-map.ts'
import type { SharedMarkup } from './routes/render/route-assets.ts'
import { createDocumentRenderer } from './routes/render/serve-document.ts'
import { createRequestJudge } from './request/judge-request.ts'
import { messageClassesOf, type MessageClasses } from './http/express-messages.ts'
import { inOrder } from './http/in-order.ts'
import { checkOrigins } from './http/named-origins.ts'
import { plainUrl } from './routes/plain-url.ts'
import { requestGuard } from './routes/request-guard.ts'
import { createServices } from './open-services.ts'
import { createAppRules } from './routes/rules/apply-rules.ts'
import { loadExpressionEngine } from './routes/rules/expression-engine.ts'
import { attachUpgrade } from './routes/rules/pending-upgrade.ts'
import { tryResponseOn } from './routes/rules/proxy-upgrade.ts'
import { routeScope } from './routes/rules/route-scope.ts'
import type { RedisLink } from './stores/redis-link.ts'
import { serveRuntime } from './routes/serve-runtime.ts'
import { serveRoutes } from './routes/serve-routes.ts'
import type { ServerCaches } from './process/metrics/cache-metrics.ts'

/** What `createApp` is given. */
export interface CreateAppOptions {
  readonly app: AppDefinition
  /** `readConfig({})` when absent. */
  readonly config?: Config
  /** What the build wrote; documents carry no scripts and styles without it. */
  readonly assets?: {
    readonly manifest: AssetManifest
    /** Absolute path of the folder behind `/_m/assets/`. */
    readonly folder: string
    /** Absolute path of the source maps of those files, for the embedded inbox. */
    readonly maps?: string
    /** Absolute path of the folder in which the build has kept those before it. */
    readonly former?: string
  }
  /** Action modules, by path relative to the application's folder: `millrace:actions` in a build. */
  readonly actions?: ActionModules
  /**
   * Whether failures of this server are reported as those of browsers are; they are logged in any case. Default: only
   * where a DSN is set.
   */
  readonly reportFailures?: boolean
  /** A logger of your own. */
  readonly log?: Logger
  /** Where the runtime's own logger writes its JSON lines, stdout when absent; not used with `log`. */
  readonly logDestination?: DestinationStream
  /** Told of each request when it is over. */
  readonly observe?: RequestObserver
  /** Has tags and paths that are dropped here dropped by the other processes that serve the same URL. Does not reject. */
  readonly onRevalidate?: ((targets: readonly string[]) => Promise<void>) | undefined
  /** Which of several processes this is, for the log. */
  readonly worker?: number | undefined
}

/** An Express application that is a Millrace server: hand it to `http.createServer`, or to supertest. */
export interface MillraceApp extends Express {
  readonly readiness: Readiness
  /** Pages in progress, and what is refused for load: nothing while nobody samples it. */
  readonly admission: Admission
  readonly log: Logger
  /** Told of a client that is refused while it holds half of something; see `warnOfOneAddress`. */
  readonly onGreedy: ((client: string) => void) | undefined
  /** Error reports: where they go, and the way in for those of this server itself. */
  readonly reports: Reports
  /** The reporter of this server's own failures, where they are reported. */
  readonly reporter: ServerReporter | undefined
  /** The connection to the store that instances share, where there is one. */
  readonly redis: RedisLink | undefined
  readonly caches: ServerCaches
  /** What the application does beside answering. The server starts it before it listens, a test where it needs it. */
  readonly life: AppLife
  /** Options of `createServer` with which requests cost less; the application works without them as well. */
  readonly messageClasses: MessageClasses
  /** Loads every module of the table, so that no visitor waits for one. */
  warm(): Promise<void>
  /** Whether an upgrade request leads to an external rewrite; only then may `upgrade` be called. */
  shouldUpgrade(req: IncomingMessage): boolean
  /** Has an upgrade request take the way of every request, middleware included, and tunnels it if that leads there. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Ends what the application holds open: connections to upstreams, embedded stores. */
  dispose(): void
}

/**
 * Makes the server of an application. The order of the middleware is the order of this function.
 * @throws {RouteTableError} on a faulty route table.
 * @throws {RuleError} on a faulty rule.
 * @throws {ConfigError} where the relay would hide a route.
 * @throws {Error} on a faulty action module.
 * @throws {TypeError} on a faulty origin for traces.
 * @throws {RangeError} on a faulty limit for visitors.
 */
export function createApp({
  app: definition,
  config = readConfig({}),
  assets,
  actions: actionModules = {},
  reportFailures = config.sentryDsn !== '',
  log: given,
  logDestination,
  observe,
  onRevalidate,
  worker,
}: CreateAppOptions): MillraceApp {
  validateRouteTable(definition.routes)
  const table = createRouteTable(definition.routes)
  checkTunnelPath(config.reportTunnelPath, table)
  const destination = logDestination ?? pino.destination(1)
  const base = worker === undefined ? null : { worker }
  const log = given ?? pino({ level: config.logLevel, base, serializers: { err: keepDescribed } }, destination)
  const requestLog = given === undefined ? requestLogTo(destination, log, worker) : requestLogThrough(given)
  const manifest = assets?.manifest ?? NO_ASSETS
  const modules = createModuleCache()
  const readiness = createReadiness()
  const onGreedy = warnOfOneAddress(config.trustProxy, log)
  const admission = createAdmission({ limit: config.maxPendingRenders, onGreedy })
  const streams = createShares({ most: () => config.maxOpenStreams, onGreedy })
  const judge = createRequestJudge(config)
  const rules = createAppRules(compileRules(definition.rules, loadExpressionEngine), table, judge, config.origins)
  const scope = routeScope(definition)
  const services = createServices(config, readiness, log, {
    mapsFolder: assets?.maps,
    buildId: manifest.buildId,
    onRevalidate,
  })
  const documents = createDocumentCache(services, () => Date.now())
  const reports = createReports(config, services, log)
  const release = config.sentryRelease || manifest.buildId
  const environment = config.sentryEnvironment
  const recorder =
    manifest.reports &&
    createPageRecorder(manifest.reports, {
      dsn: reports.dsn,
      tunnel: reports.tunnelPath,
      release,
      environment,
      rate: config.sentryTracesSampleRate,
      ...(definition.reports?.consent === 'ask' ? { consent: true } : {}),
    })
  const reporter = reportFailures
    ? createServerReporter({
        intake: reports.intake,
        dsn: reports.dsn,
        relayPath: reports.tunnelPath,
        release,
        environment,
        sampleRate: config.sentryTracesSampleRate,
        log,
        now: () => performance.now(),
        timeOrigin: performance.timeOrigin,
        random: Math.random,
        after: SYSTEM_CLOCK.after,
      })
    : undefined
  const traceOrigins = checkOrigins('reports.traceOrigins', definition.reports?.traceOrigins)
  const isTracing = reporter !== undefined && (config.sentryTracesSampleRate > 0 || traceOrigins.length > 0)
  const outgoing = isTracing ? followOutgoingRequests({ traceOrigins, now: () => performance.now() }) : undefined
  const visitorLimits = limitVisitors(definition.security?.limits)
  const calls: CallJudge = { registry: createActionRegistry(actionModules), origins: config.origins }
  const actions: ActionParts = {
    registry: calls.registry,
    modules,
    calls: createCallsOnce(services, Date.now),
    admission,
    bodyLimit: config.actionBodyLimit,
    heldBodies: createHeldBodies(),
    refusesForm: visitorLimits?.refusesForm,
  }
  const renderer = createDocumentRenderer({
    document: definition.document,
    modules,
    manifest,
    shared: sharedMarkup(definition, manifest, recorder, reports.tunnelPath),
    renderTimeoutMs: config.renderTimeoutMs,
    scope,
  })

  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  const messageClasses = messageClassesOf(app)

  const policyReports = { path: reports.tunnelPath, origins: config.origins, release, environment, now: Date.now }
  app.use(
    inOrder(
      oneRequestAtATime(config),
      requestGuard({
        judge,
        buildId: manifest.buildId,
        trustProxy: config.trustProxy,
        log,
        requestLog,
        observe,
        services,
        reporter,
      }),
      createPolicyRelay({ ...policyReports, intake: reports.intake }),
      reports.relay,
      serveRuntime({
        readiness,
        buildId: manifest.buildId,
        assets: assets?.folder,
        keptFiles: assets && keptFilesOf(assets.former, config),
        routes: definition.routes,
        calls,
        isOverloaded: () => admission.isOverloaded,
      }),
      ...(outgoing === undefined ? [] : [outgoing.handler]),
      takeActions(calls),
      ...(visitorLimits === undefined ? [] : [visitorLimits.handler]),
    ),
  )
  if (definition.middleware !== undefined) app.use(plainUrl)
  for (const middleware of definition.middleware ?? []) app.use(middleware)
  const actionSegments = new Set(manifest.actionSegments)
  app.use(
    serveRoutes({
      table,
      rules,
      renderer,
      modules,
      admission,
      streams,
      documents,
      config,
      actions,
      actionSegments,
      scope,
    }),
  )
  app.use(answerFailures)

  return Object.assign(app, {
    readiness,
    life: createAppLife(definition.start, readiness, services.afterwards, { log, dataDir: services.dataDir, worker }),
    admission,
    log,
    onGreedy,
    messageClasses,
    warm: async () => {
      const all = Object.values(definition.routes).flatMap((segment) => Object.values(segment))
      await modules.load(all)
    },
    shouldUpgrade: rules.shouldUpgrade,
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer) {
      // Until somebody has taken the connection over, nobody else hears of a visitor who resets it.
      socket.on('error', () => socket.destroy())
      attachUpgrade(req, { socket, head })
      const res = tryResponseOn(req, socket, messageClasses.ServerResponse)
      if (res === undefined) socket.destroy()
      else app(req, res)
    },
    reports,
    reporter,
    redis: services.redis,
    caches: {
      drop: (targets: readonly string[]) => services.openedData?.drop(targets),
      get data() {
        return services.openedData?.stats
      },
      get documents() {
        return documents.stats
      },
    },
    dispose: () => {
      rules.dispose()
      outgoing?.dispose()
      reporter?.dispose()
      reports.dispose()
      services.dispose()
    },
  })
}

function sharedMarkup(
  { reports, security }: AppDefinition,
  manifest: AssetManifest,
  recorder: PageRecorder | undefined,
  tunnelPath: string,
): SharedMarkup {
  const importMap = security?.integrity === 'all' ? createImportMap(manifest) : undefined
  // Nobody can be asked before the browser tells what a policy has kept from happening.
  const tells = recorder !== undefined && reports?.consent !== 'ask'
  const options: PolicyOptions = {
    reportPath: tells ? tunnelPath : undefined,
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

/** Errors are described where they are logged; pino's own serializer would take the description for an error. */
function keepDescribed(described: unknown): unknown {
  return described
}
