/**
 * Starts the server of the application with which it was built. No other file ends the process. Exit codes: 0 after an
 * orderly shutdown, 1 for an invalid configuration, a failed start, or an unfinished shutdown.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { basePath } from '../shared/base-path.ts'
import type { MillraceApp } from './app.ts'
import { openBuiltApp, readManifest, type BuiltApp } from './built-app.ts'
import { ConfigError, describeConfig, readConfig, type Config } from './config/config.ts'
import { configFault } from './config/variable-origin.ts'
import { makeMetrics, openMetrics, type CountConnections } from './process/metrics/open-metrics.ts'
import type { ServerMetrics } from './process/metrics/server-metrics.ts'
import { drain } from './process/drain.ts'
import { onEndSignals } from './process/end-signals.ts'
import { limitConnections } from './process/limit-connections.ts'
import { gatherLines } from './process/gathered-log.ts'
import { watchLoad } from './request/admission/load-watch.ts'
import { BACKLOG, SERVER_OPTIONS, setServerLimits } from './process/server-limits.ts'
import { warmUp, warmUpPrivately } from './process/warm-up.ts'
import type { ServerProcess } from './process/server-process.ts'
import { shareConnections } from './process/share-connections.ts'
import { endSlowReaders } from './process/slow-readers.ts'
import { describeThrown } from './request/answer/failure.ts'
import { isOfLeftRequest } from './process/left-request.ts'
import { isOfRequest } from './process/unhandled-rejection.ts'
import { checkDataDir, checkRedisClient, listenFault } from './process/start-faults.ts'
import type { PrimaryLink } from './process/workers/primary-link.ts'

const LOG_CHARACTERS = 4_096 // measured: costs a quarter of passing each line to another thread
const LOG_FLUSH_MS = 100 // longest delay of a line on a quiet server
/**
 * Processes that share a pipe can write 4,096 bytes at a time without cutting each other's lines (pipe(7), PIPE_BUF). A
 * character takes up to three bytes, a surrogate pair four.
 */
const SHARED_LOG_CHARACTERS = 1_365

/** A worker's id and its channel to the primary. */
interface Membership {
  readonly worker: number
  readonly link: PrimaryLink
}

if (process.argv.includes('--help')) {
  console.log(describeConfig())
} else {
  try {
    const config = readConfig(process.env)
    // The default folder may never be needed.
    if (process.env['DATA_DIR']) checkDataDir(config.dataDir)
    if (config.redisUrl !== '') await checkRedisClient()
    await start(config)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(configFault(error))
    process.exit(1)
  }
}

async function start(config: Config): Promise<void> {
  // Synchronous, so that a slow reader slows this process down instead of filling its memory.
  const stdout = pino.destination({ fd: 1, sync: true })
  const destination = gatherLines(stdout, config.workers > 1 ? SHARED_LOG_CHARACTERS : LOG_CHARACTERS)
  setInterval(destination.flush, LOG_FLUSH_MS).unref()
  const leave = (code: number): never => {
    try {
      destination.flushSync()
    } catch {
      // Nothing was written yet, or stdout is closed.
    }
    process.exit(code)
  }
  const self: ServerProcess = {
    config,
    destination,
    announce: (line) => {
      destination.flushSync()
      console.log(line)
    },
    complain: (line) => console.error(line),
    leave,
  }
  if (config.workers === 1) return serve(self)
  const { default: cluster } = await import('node:cluster')
  if (cluster.worker === undefined) {
    const { lead } = await import('./process/workers/lead.ts')
    return lead(self, join(import.meta.dirname, 'main.js'))
  }
  const { createPrimaryLink } = await import('./process/workers/primary-link.ts')
  return serve(self, { worker: cluster.worker.id, link: createPrimaryLink(process) })
}

/** Runs the server, alone or as a worker. */
async function serve(self: ServerProcess, member?: Membership): Promise<void> {
  const running = await makeServer(self, member)
  const { app, metrics } = running
  const { onSignal, onFatal } = createEnding(running)
  onEndSignals(onSignal)
  member?.link.serve({
    drain: () => onSignal('drain'),
    leave: () => self.leave(1),
    drop: app.caches.drop,
    metrics: metrics === undefined ? undefined : () => metrics.registry.getMetricsAsJSON(),
  })
  process.on('uncaughtException', (thrown) => {
    if (!isOfLeftRequest(thrown)) onFatal(thrown)
  })
  process.on('unhandledRejection', (thrown) => {
    if (!isOfRequest(thrown)) onFatal(thrown)
  })

  // The application's own start first: no request is answered before it.
  try {
    await app.life.start()
  } catch (thrown) {
    app.log.fatal({ err: describeThrown(thrown) }, 'the application could not be started')
    self.complain(`start of app.ts: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    return self.leave(1)
  }
  if (app.readiness.state() === 'draining') return
  await (member === undefined ? listenAlone(running) : listenAsWorker(running, member))
}

/** A running server, and everything to start and end it. */
interface Running extends BuiltApp {
  readonly self: ServerProcess
  readonly member: Membership | undefined
  readonly server: Server
  readonly metrics: ServerMetrics | undefined
}

async function makeServer(self: ServerProcess, member: Membership | undefined): Promise<Running> {
  const { config, destination, complain, leave } = self
  const manifest = readManifest()
  const made: { app?: MillraceApp } = {}
  const connections: CountConnections = (listener) => server.getConnections(listener)
  const metrics = await makeMetrics(config, manifest, () => made.app, connections)
  const built = await openBuiltApp(manifest, {
    config,
    logDestination: destination,
    worker: member?.worker,
    onRevalidate: member?.link.revalidate,
    connections,
    ...(metrics === undefined ? {} : { observe: metrics.observe }),
  })
  const { app } = built
  made.app = app
  const { log } = app

  const options = { ...SERVER_OPTIONS, ...app.messageClasses, shouldUpgradeCallback: app.shouldUpgrade }
  const server = createServer(options, app)
  setServerLimits(server)
  shareConnections(server, { trustProxy: config.trustProxy, onGreedy: app.onGreedy })
  limitConnections(server)
  endSlowReaders(server)
  server.on('upgrade', app.upgrade)
  server.on('error', (error) => {
    if (member !== undefined) {
      return member.link.tell({ kind: 'cannot-listen', message: error.message }, () => leave(1))
    }
    log.fatal({ err: { message: error.message } }, 'cannot listen')
    complain(listenFault('PORT', config, error.message))
    leave(1)
  })
  return { ...built, self, member, server, metrics }
}

/** Parts for ending the process: on signals, and on uncaught failures. */
interface Ending {
  onSignal(signal: string): void
  onFatal(error: unknown): void
}

function createEnding({ self, member, app, server, close }: Running): Ending {
  const { config, leave } = self
  const { log } = app
  let ending = false

  async function shutdown(signal: string, code: number): Promise<void> {
    ending = true
    log.info({ signal }, 'shutting down')
    member?.link.tell({ kind: 'leaving' })
    const deadline = AbortSignal.timeout(config.shutdownGraceMs)
    const drained = await drain({ server, readiness: app.readiness, config })
    leave((await close(drained, deadline)) ? code : 1)
  }

  return {
    onSignal(signal) {
      // A second signal ends the process at once. Workers leave that to the primary, because they get each signal
      // twice, from the terminal and from it.
      if (!ending) void shutdown(signal, 0)
      else if (member === undefined) leave(1)
    },
    onFatal(error) {
      // The process is in an unknown state: report, finish answers in flight, and end.
      log.fatal({ err: describeThrown(error) }, 'uncaught exception')
      void app.reporter?.fatal(error)
      if (!ending) void shutdown('uncaught exception', 1)
    },
  }
}

async function listenAlone(running: Running): Promise<void> {
  const { self, app, server, metrics } = running
  const { config, announce } = self
  if (metrics !== undefined) await openMetrics(self, () => metrics.registry.metrics(), app.log)
  server.listen({ port: config.port, host: config.host, backlog: BACKLOG }, () => {
    const { port } = server.address() as AddressInfo
    void warmUp(app, port, config, app.log).finally(() => {
      if (app.readiness.state() === 'draining') return
      watchServing(running)
      announce(`Millrace is listening on http://localhost:${port}${basePath()}`)
    })
  })
}

/** Renders a page before it listens: the public port passes requests to every worker that listens. */
async function listenAsWorker(running: Running, { link }: Membership): Promise<void> {
  const { self, app, server } = running
  const { config, destination } = self
  await warmUpPrivately(app, server, config, app.log)
  if (app.readiness.state() === 'draining') return
  watchServing(running)
  server.listen({ port: config.port, host: config.host, backlog: BACKLOG }, () => {
    const { port } = server.address() as AddressInfo
    destination.flushSync()
    link.tell({ kind: 'ready', port })
  })
}

/** Call this after the start, whose work must not count as load. */
function watchServing({ app, metrics }: Running): void {
  void app.reporter?.warm()
  watchLoad(app.admission.waits, (reading) => {
    app.admission.sample(reading)
    metrics?.load(reading)
    app.telemetry.load(reading)
  })
}
