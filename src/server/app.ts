import express, { type Express, type RequestHandler } from 'express'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { basePath } from '../shared/base-path.ts'
import { createAppParts, type AppParts, type CreateAppOptions } from './app-parts.ts'
import { messageClassesOf, type MessageClasses } from './http/express-messages.ts'
import { joinSmallChunks } from './http/body/join-small-chunks.ts'
import { inOrder } from './http/in-order.ts'
import { createAppLife, type AppLife } from './process/app-life.ts'
import type { ServerCaches } from './process/metrics/cache-metrics.ts'
import { measuredOf } from './process/metrics/open-metrics.ts'
import type { Readiness } from './process/readiness.ts'
import { warmModules, type WarmModules } from './process/warm-modules.ts'
import { createTelemetry, type Telemetry } from './process/telemetry/telemetry.ts'
import type { Reports } from './reports/create-reports.ts'
import { createPolicyRelay } from './reports/relay/policy-relay.ts'
import type { Admission } from './request/admission/admission.ts'
import { createRequestQueue, type RequestQueue } from './request/admission/request-queue.ts'
import type { ServerReporter } from './request/request-reporter.ts'
import { takeActions } from './routes/actions/take-action.ts'
import { answerFailures } from './routes/answer-failures.ts'
import { tellClients } from './routes/client-getters.ts'
import { createEntrance, type Handle } from './routes/entrance.ts'
import { plainUrl } from './routes/plain-url.ts'
import { openRequest } from './routes/open-request.ts'
import { attachUpgrade } from './routes/proxy/pending-upgrade.ts'
import { isHandshake, tryResponseOn } from './routes/proxy/proxy-upgrade.ts'
import { serveRoutes } from './routes/serve-routes.ts'
import { serveRuntime } from './routes/serve-runtime.ts'
import type { RedisLink } from './stores/redis-link.ts'

export type { CreateAppOptions } from './app-parts.ts'

/** An Express application that is a Millrace server: pass it to `http.createServer`, or to supertest. */
export interface MillraceApp extends Express {
  readonly readiness: Readiness
  /** Pages in progress, and load shedding: nothing is shed unless `sample` is called. */
  readonly admission: Admission
  readonly log: Logger
  /** Called with a client that is refused while it holds half of a shared resource; see `warnOfOneAddress`. */
  readonly onGreedy: ((client: string) => void) | undefined
  /** Error reports: their destination, and the intake for this server's own. */
  readonly reports: Reports
  /** The reporter of this server's own failures, if they are reported. */
  readonly reporter: ServerReporter | undefined
  /** The connection to the store that instances share, if there is one. */
  readonly redis: RedisLink | undefined
  readonly caches: ServerCaches
  /** Spans and metrics of OpenTelemetry, if a provider is registered when `life` has started. */
  readonly telemetry: Pick<Telemetry, 'load'>
  /** The application's `start` and `stop`. The server starts it before it listens; tests start it if they need it. */
  readonly life: AppLife
  /** Options of `createServer` that make requests cheaper; the application works without them as well. */
  readonly messageClasses: MessageClasses
  /** Loads every module of the table, so that no visitor waits for one; see `warmModules`. */
  warm(): Promise<WarmModules>
  /** Whether an upgrade request leads to an external rewrite; call `upgrade` only then. */
  shouldUpgrade(req: IncomingMessage): boolean
  /** Handles an upgrade request like every request, middleware included, and tunnels it if it leads to a rewrite. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes connections to upstreams and embedded stores. */
  dispose(): void
}

/**
 * Creates the server of an application. The order of the middleware is the order of this function.
 * @throws {RouteTableError} for a faulty route table.
 * @throws {RuleError} for a faulty rule.
 * @throws {ConfigError} if the relay would hide a route.
 * @throws {Error} for a faulty action module.
 * @throws {TypeError} for a faulty trace origin.
 * @throws {RangeError} for a faulty visitor limit.
 */
export function createApp(options: CreateAppOptions): MillraceApp {
  const parts = createAppParts(options)
  const { admission, decider, definition, forwarder, log, modules, onGreedy, outgoing, readiness, reporter } = parts
  const { reports, services } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  const messageClasses = messageClassesOf(app)
  // A host's own trust is inherited.
  if (!parts.isEmbedded) tellClients(app, parts.config.trustProxy)
  const caches = cachesOf(parts)
  const facts = { buildId: parts.manifest.buildId, limit: parts.config.maxPendingRenders }
  const telemetry = createTelemetry({
    log,
    trustProxy: parts.config.trustProxy,
    measured: measuredOf(facts, () => ({ admission, caches, redis: services.redis, reports }), options.connections),
  })
  const { trustProxy } = parts.config
  const queue = createRequestQueue({ trustProxy, addressOf: (req) => parts.judge(req).clientAddress.address })
  app.use(inOrder(...runtimeHandlers(parts, telemetry, queue, options)))
  if (definition.middleware !== undefined) app.use(plainUrl)
  for (const middleware of definition.middleware ?? []) app.use(middleware)
  app.use(serveRoutes(parts))
  app.use(answerFailures)
  const { handle } = app as unknown as { readonly handle: Handle }
  const route = handle.bind(app)
  const isBehind = basePath() !== '' || parts.isEmbedded
  const enter = isBehind ? createEntrance({ ...parts, relayPath: reports.tunnelPath }, route) : route
  Object.assign(app, { handle: inTurns(queue, enter) })

  const { dataDir, afterwards } = services
  const life = createAppLife(definition.start, readiness, afterwards, {
    log,
    dataDir,
    worker: options.worker,
    revalidate: (...targets) => parts.services.data.revalidate(targets),
  })
  return Object.assign(app, {
    readiness,
    life: {
      async start() {
        await services.redis?.tried // otherwise the first visitors, and `start` itself, find no store
        await life.start()
        await telemetry.open()
      },
      stop: life.stop,
    },
    telemetry,
    admission,
    log,
    onGreedy,
    messageClasses,
    warm: () => warmModules(parts.table, modules, log),
    shouldUpgrade: (req: IncomingMessage) => isHandshake(req) && decider.mayLeadElsewhere(req),
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer) {
      // Until a handler takes over the connection, nothing else handles a visitor's reset.
      socket.on('error', () => socket.destroy())
      attachUpgrade(req, { socket, head })
      const res = tryResponseOn(req, socket, messageClasses.ServerResponse)
      if (res === undefined) socket.destroy()
      else app(req, res)
    },
    reports,
    reporter,
    redis: services.redis,
    caches,
    dispose: () => {
      for (const part of [forwarder, outgoing, telemetry, reporter, reports, services]) part?.dispose()
    },
  })
}

/** What comes before everything else: in a host, a request is compared with all rules to know whose it is. */
function inTurns({ oneAtATime }: RequestQueue, handle: Handle): Handle {
  return (req, res, next) => {
    joinSmallChunks(req)
    oneAtATime(req, res, () => handle(req, res, next))
  }
}

/** The runtime's handlers before the application, in this order. */
function runtimeHandlers(
  parts: AppParts,
  telemetry: Telemetry,
  queue: RequestQueue,
  { assets, observe }: CreateAppOptions,
): RequestHandler[] {
  const { admission, calls, config, manifest, outgoing, policyReports, reports, visitorLimits } = parts
  const { buildId } = manifest
  return [
    openRequest({ ...parts, buildId, trustProxy: config.trustProxy, observe, telemetry }),
    queue.longHeads,
    ...(policyReports === undefined ? [] : [createPolicyRelay(policyReports)]),
    reports.relay,
    serveRuntime({
      ...parts,
      buildId,
      assets: assets?.folder,
      routes: parts.definition.routes,
      isOverloaded: () => admission.isOverloaded,
    }),
    telemetry.handler,
    ...(outgoing === undefined ? [] : [outgoing.handler]),
    takeActions(calls),
    ...(visitorLimits === undefined ? [] : [visitorLimits.handler]),
  ]
}

function cachesOf({ services, documents }: AppParts): ServerCaches {
  return {
    drop(targets, at) {
      if (services.openedData === undefined) services.drops?.note(targets, at)
      else services.openedData.drop(targets, at)
    },
    get data() {
      return services.openedData?.stats
    },
    get documents() {
      return documents.stats
    },
  }
}
