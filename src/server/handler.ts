/**
 * The built application for a server that exists: Express middleware, or the listener of a server of one's own. It listens
 * to no port and no signal, and never ends the process.
 */
import type { ServerResponse } from 'node:http'
import type { Express, RequestHandler } from 'express'
import { basePath } from '../shared/base-path.ts'
import type { EmbeddedApp, MillraceOptions } from './api/millrace.ts'
import type { MillraceApp } from './app.ts'
import { openBuiltApp, readManifest, type BuiltApp } from './built-app.ts'
import { readConfig, type Config } from './config/config.ts'
import { drainHostServer, limitHostServer } from './process/host-server.ts'
import { checkDataDir, checkRedisClient } from './process/start-faults.ts'
import { guardHost } from './process/unhandled-rejection.ts'
import { watchLoad } from './request/admission/load-watch.ts'
import { MountError, type Handle } from './routes/entrance.ts'

/** Variables of a process that listens; the host is that. */
const HOSTS_VARIABLES = ['PORT', 'HOST', 'WORKERS', 'METRICS_PORT'] as const

/** On the Express application of the host: paths where applications are mounted. Each has its own copy of this module. */
const MOUNTED = Symbol.for('millrace.mounted')

/**
 * Opens and starts the application.
 * @throws {ConfigError} for a wrong value of the configuration.
 * @throws what the application's `start` throws.
 */
export async function embed({ server, env = process.env }: Omit<MillraceOptions, 'dist'> = {}): Promise<EmbeddedApp> {
  const config = readConfig(Object.fromEntries(Object.entries(env).filter(([name]) => !isHosts(name))))
  if (env['DATA_DIR']) checkDataDir(config.dataDir)
  if (config.redisUrl !== '') await checkRedisClient()
  const built = await openBuiltApp(readManifest(), { config, isEmbedded: true, environment: env })
  const { app } = built
  const { log, readiness } = app
  try {
    await app.life.start()
    await app.warm()
  } catch (thrown) {
    readiness.markDraining()
    await built.close(true, AbortSignal.timeout(config.shutdownGraceMs))
    throw thrown
  }
  readiness.markReady()
  void app.reporter?.warm()
  const unwatch = watchLoad(app.admission.waits, (reading) => {
    app.admission.sample(reading)
    app.telemetry.load(reading)
  })
  const unguard = guardHost()
  const ignored = HOSTS_VARIABLES.filter((name) => env[name])
  if (ignored.length > 0) log.info({ ignored }, 'inside of another server these variables are ignored')
  if (built.hasProxies) log.info({ off: ['WebSockets'] }, 'inside of another server, rewrites do not forward these')
  if (server === undefined) {
    const off = ['shares of connections', 'answers to malformed requests', 'end of slow readers', 'orderly drain']
    log.warn({ off }, 'millrace() was given no server, so these guards are off')
  } else limitHostServer(server, { trustProxy: config.trustProxy, onGreedy: app.onGreedy })

  const inProgress = countAnswers(app)
  const leave = (): void => {
    unwatch()
    unguard()
  }
  const stop = createStop({ built, config, server, inProgress, leave })
  server?.once('close', () => void stop())
  app.on('mount', (parent) => checkMount(app, parent as MountingApp))
  return Object.assign(app, { stop })
}

function isHosts(name: string): boolean {
  return (HOSTS_VARIABLES as readonly string[]).includes(name)
}

/** Answers of the application in progress. */
interface AnswersInProgress {
  /** Resolves when there are none. */
  over(): Promise<void>
  /** From now on every request is refused. */
  end(): void
}

function countAnswers(app: MillraceApp): AnswersInProgress {
  const { handle } = app as unknown as { readonly handle: Handle }
  const running = new Set<ServerResponse>()
  const waiting = new Set<() => void>()
  let hasEnded = false
  const leave = (res: ServerResponse): void => {
    running.delete(res)
    if (running.size === 0) for (const resolve of waiting) resolve()
  }
  const counted: Handle = (req, res, next) => {
    if (hasEnded) {
      const headers = { Connection: 'close', 'Retry-After': '1', 'Cache-Control': 'no-store', 'Content-Length': '0' }
      return void res.writeHead(503, headers).end()
    }
    running.add(res)
    res.once('close', () => leave(res))
    if (next === undefined) return handle(req, res)
    handle(req, res, (error) => {
      leave(res)
      next(error)
    })
  }
  Object.assign(app, { handle: counted })
  return {
    over: () => (running.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
    end() {
      hasEnded = true
    },
  }
}

interface Ending {
  readonly built: BuiltApp
  readonly config: Config
  readonly server: MillraceOptions['server']
  readonly inProgress: AnswersInProgress
  /** Ends what watches the process. */
  readonly leave: () => void
}

function createStop({ built, config, server, inProgress, leave }: Ending): () => Promise<boolean> {
  const { log, readiness } = built.app
  let stopped: Promise<boolean> | undefined

  async function end(): Promise<boolean> {
    log.info('shutting down')
    const deadline = AbortSignal.timeout(config.shutdownGraceMs)
    readiness.markDraining()
    const closed = server === undefined || (await drainHostServer(server, readiness, config))
    const isLate = new Promise<false>((resolve) => deadline.addEventListener('abort', () => resolve(false)))
    const drained = await Promise.race([inProgress.over().then(() => true), isLate])
    inProgress.end()
    leave()
    return built.close(closed && drained, deadline)
  }

  return () => (stopped ??= end())
}

interface MountingApp {
  [MOUNTED]?: Set<string>
}

/**
 * Looks at where the application is mounted, as far as that is known: a host may itself be mounted later.
 * @throws {MountError} for a path that cannot be the base path.
 * @throws {Error} where another application is mounted at this path.
 */
function checkMount({ mountpath }: Pick<Express, 'mountpath'>, parent: MountingApp): void {
  const mounted = (parent[MOUNTED] ??= new Set())
  for (const path of [mountpath].flat()) {
    if (typeof path !== 'string') continue
    const plain = path.replace(/\/+$/, '')
    if (!basePath().endsWith(plain)) throw new MountError(plain || '/')
    if (mounted.has(plain)) {
      const fault = new Error(`Two Millrace applications are mounted at '${path}': give each a base path of its own`)
      fault.stack = String(fault)
      throw fault
    }
    mounted.add(plain)
  }
}

/** The application of the bundle with the configuration of the process, begun by the first request or `start`. */
function createHandler() {
  let opened: Promise<EmbeddedApp> | undefined
  const open = (): Promise<EmbeddedApp> => (opened ??= embed())

  // A rejection is what Express 5 takes for an error; without Express it ends the process, as a failed start should.
  const handler: RequestHandler = async (req, res, next) => {
    const app = await open()
    return app(req, res, next)
  }
  return {
    handler,
    start: async (): Promise<void> => void (await open()),
    stop: async (): Promise<boolean> => opened === undefined || (await opened).stop(),
  }
}

/**
 * `handler`: Express middleware, and a listener of `http.createServer`. `start` opens the application, once; `handler` does
 * so itself with its first request. `stop` is that of `EmbeddedApp`.
 */
export const { handler, start, stop } = createHandler()
