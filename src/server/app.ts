import express, { type Express, type RequestHandler } from 'express'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { createAppParts, type AppParts, type CreateAppOptions } from './app-parts.ts'
import { messageClassesOf, type MessageClasses } from './http/express-messages.ts'
import { inOrder } from './http/in-order.ts'
import { createAppLife, type AppLife } from './process/app-life.ts'
import type { ServerCaches } from './process/metrics/cache-metrics.ts'
import type { Readiness } from './process/readiness.ts'
import type { Reports } from './reports/create-reports.ts'
import { createPolicyRelay } from './reports/relay/policy-relay.ts'
import type { Admission } from './request/admission/admission.ts'
import { oneRequestAtATime } from './request/admission/request-queue.ts'
import type { ServerReporter } from './request/request-reporter.ts'
import { takeActions } from './routes/actions/take-action.ts'
import { answerFailures } from './routes/answer-failures.ts'
import { plainUrl } from './routes/plain-url.ts'
import { requestGuard } from './routes/request-guard.ts'
import { attachUpgrade } from './routes/rules/pending-upgrade.ts'
import { tryResponseOn } from './routes/rules/proxy-upgrade.ts'
import { serveRoutes } from './routes/serve-routes.ts'
import { serveRuntime } from './routes/serve-runtime.ts'
import type { RedisLink } from './stores/redis-link.ts'

export type { CreateAppOptions } from './app-parts.ts'

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
export function createApp(options: CreateAppOptions): MillraceApp {
  const parts = createAppParts(options)
  const { admission, definition, log, modules, onGreedy, outgoing, readiness, reporter, reports, rules, services } =
    parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  const messageClasses = messageClassesOf(app)
  app.use(inOrder(...runtimeHandlers(parts, options)))
  if (definition.middleware !== undefined) app.use(plainUrl)
  for (const middleware of definition.middleware ?? []) app.use(middleware)
  app.use(serveRoutes(parts))
  app.use(answerFailures)

  const { dataDir, afterwards } = services
  return Object.assign(app, {
    readiness,
    life: createAppLife(definition.start, readiness, afterwards, { log, dataDir, worker: options.worker }),
    admission,
    log,
    onGreedy,
    messageClasses,
    warm: async () => {
      await modules.load(Object.values(definition.routes).flatMap((segment) => Object.values(segment)))
    },
    shouldUpgrade: rules.shouldUpgrade,
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer) {
      // Until something takes the connection over, nothing else listens for a visitor who resets it.
      socket.on('error', () => socket.destroy())
      attachUpgrade(req, { socket, head })
      const res = tryResponseOn(req, socket, messageClasses.ServerResponse)
      if (res === undefined) socket.destroy()
      else app(req, res)
    },
    reports,
    reporter,
    redis: services.redis,
    caches: cachesOf(parts),
    dispose: () => {
      for (const part of [rules, outgoing, reporter, reports, services]) part?.dispose()
    },
  })
}

/** What the runtime does in front of the application, in this order. */
function runtimeHandlers(parts: AppParts, { assets, observe }: CreateAppOptions): RequestHandler[] {
  const { admission, calls, config, manifest, outgoing, policyReports, reports, visitorLimits } = parts
  const { buildId } = manifest
  return [
    oneRequestAtATime(config),
    requestGuard({ ...parts, buildId, trustProxy: config.trustProxy, observe }),
    createPolicyRelay(policyReports),
    reports.relay,
    serveRuntime({
      ...parts,
      buildId,
      assets: assets?.folder,
      routes: parts.definition.routes,
      isOverloaded: () => admission.isOverloaded,
    }),
    ...(outgoing === undefined ? [] : [outgoing.handler]),
    takeActions(calls),
    ...(visitorLimits === undefined ? [] : [visitorLimits.handler]),
  ]
}

function cachesOf({ services, documents }: AppParts): ServerCaches {
  return {
    drop: (targets) => services.openedData?.drop(targets),
    get data() {
      return services.openedData?.stats
    },
    get documents() {
      return documents.stats
    },
  }
}
