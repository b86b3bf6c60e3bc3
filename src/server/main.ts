/**
 * Starts the server of the application that it was built with, and is the only file that ends the process.
 * Exit codes: 0 after an orderly shutdown, 1 for a wrong configuration, a failed start, or an unfinished shutdown.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import actions from 'millrace:actions'
import application from 'millrace:app'
import { createApp, type MillraceApp } from './app.ts'
import type { AssetManifest } from './assets/manifest.ts'
import { shareAssets } from './assets/share-assets.ts'
import { ConfigError, describeConfig, readConfig, type Config } from './config/config.ts'
import { makeMetrics, openMetrics } from './process/metrics/open-metrics.ts'
import { drain } from './process/drain.ts'
import { hearEndSignals } from './process/end-signals.ts'
import { guardConnections } from './process/guard-connections.ts'
import { listenFault } from './process/listen-fault.ts'
import { gatherLines } from './process/gathered-log.ts'
import { watchLoad } from './request/admission/load-watch.ts'
import { openPrivateDoor } from './process/private-door.ts'
import { SERVER_OPTIONS, setServerLimits } from './process/server-limits.ts'
import { warmUp } from './process/warm-up.ts'
import type { ServerProcess } from './process/server-process.ts'
import { shareConnections } from './process/share-connections.ts'
import { endSlowReaders } from './process/slow-readers.ts'
import { describeThrown } from './request/answer/failure.ts'
import { checkDataDir } from './process/check-data-dir.ts'
import type { PrimaryLink } from './process/workers/primary-link.ts'

const LOG_CHARACTERS = 4_096 // measured: a quarter of what handing each line to another thread costs
const LOG_FLUSH_MS = 100 // how late a line may be on a quiet server
/**
 * Processes that share a pipe can write 4,096 bytes at a time without cutting each other's lines. Source: pipe(7), PIPE_BUF.
 * A character has three of them at most, a pair of surrogates four.
 */
const SHARED_LOG_CHARACTERS = 1_365

/** A worker's id and its way to the primary. */
interface Membership {
  readonly worker: number
  readonly link: PrimaryLink
}

if (process.argv.includes('--help')) {
  console.log(describeConfig())
} else {
  try {
    const config = readConfig(process.env)
    // The folder that nobody has asked for may be one that nobody needs.
    if (process.env['DATA_DIR']) checkDataDir(config.dataDir)
    await start(config)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

async function start(config: Config): Promise<void> {
  // Gathered, and flushed before the process ends. Synchronous, so that a reader who is too slow slows us down instead
  // of filling our memory.
  const stdout = pino.destination({ fd: 1, sync: true })
  const destination = gatherLines(stdout, config.workers > 1 ? SHARED_LOG_CHARACTERS : LOG_CHARACTERS)
  setInterval(destination.flush, LOG_FLUSH_MS).unref()
  const leave = (code: number): never => {
    try {
      destination.flushSync()
    } catch {
      // Nothing was written yet, or stdout is closed: there is nobody left to tell.
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

/** The server: alone, or as a worker. */
async function serve(self: ServerProcess, member?: Membership): Promise<void> {
  const { config, destination, announce, complain, leave } = self
  const dist = join(import.meta.dirname, '..')
  const manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as AssetManifest
  const folder = join(dist, 'public')
  const made: { app?: MillraceApp } = {}
  const metrics = await makeMetrics(
    config,
    manifest,
    () => made.app,
    (count) => server.getConnections(count),
  )
  const app = createApp({
    app: application,
    actions,
    config,
    assets: { manifest, folder, maps: join(dist, 'maps'), former: join(dist, 'former') },
    logDestination: destination,
    reportFailures: true,
    worker: member?.worker,
    onRevalidate: member?.link.revalidate,
    ...(metrics === undefined ? {} : { observe: metrics.observe }),
  })
  made.app = app
  const { log } = app

  // Before anybody gets a document: what that names must be found at the other instances, too.
  const endSharing = await shareAssets(config, { buildId: manifest.buildId, folder, log, now: Date.now })

  const options = { ...SERVER_OPTIONS, ...app.messageClasses, shouldUpgradeCallback: app.shouldUpgrade }
  const server = createServer(options, app)
  setServerLimits(server)
  shareConnections(server, { trustProxy: config.trustProxy, onGreedy: app.onGreedy })
  guardConnections(server)
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

  const shutdown = async (signal: string, code: number): Promise<void> => {
    log.info({ signal }, 'shutting down')
    member?.link.tell({ kind: 'leaving' })
    const deadline = AbortSignal.timeout(config.shutdownGraceMs)
    const drained = await drain({ server, readiness: app.readiness, config })
    const orderly = (await app.life.stop(deadline)) && drained
    // What this server has to say itself comes first.
    await app.reporter?.flush()
    // What the service does not take in time waits on the disk for the next start.
    await app.reports.flush(deadline)
    app.dispose()
    await endSharing()
    log.info({ orderly }, 'stopped')
    leave(orderly ? code : 1)
  }
  const once = { started: false }
  const onSignal = (signal: string): void => {
    // A second signal means now. To a worker it comes twice, from the terminal and from the primary; that one decides.
    if (once.started) return member === undefined ? leave(1) : undefined
    once.started = true
    void shutdown(signal, 0)
  }
  hearEndSignals(onSignal)
  member?.link.serve({
    drain: () => onSignal('drain'),
    leave: () => leave(1),
    drop: app.caches.drop,
    metrics: metrics === undefined ? undefined : () => metrics.registry.getMetricsAsJSON(),
  })

  // What nobody has caught leaves the process in an unknown state: say so once, serve what is in flight, and go.
  const onFatal = (error: unknown): void => {
    log.fatal({ err: describeThrown(error) }, 'uncaught exception')
    void app.reporter?.fatal(error)
    if (once.started) return
    once.started = true
    void shutdown('uncaught exception', 1)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)

  // Nobody is answered before the application has what it needs.
  try {
    await app.life.start()
  } catch (thrown) {
    log.fatal({ err: describeThrown(thrown) }, 'the application could not be started')
    complain(`start of app.ts: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    return leave(1)
  }
  if (app.readiness.state() === 'draining') return

  // What the start itself costs is no load.
  const watch = (): void => {
    void app.reporter?.warm()
    watchLoad(app.admission.longestWaitMs, (reading) => {
      app.admission.sample(reading)
      metrics?.load(reading)
    })
  }
  if (member === undefined) {
    if (metrics !== undefined) {
      const { registry } = metrics
      await openMetrics(self, () => registry.metrics(), log)
    }
    server.listen(config.port, config.host, () => {
      const { port } = server.address() as AddressInfo
      void warmUp(app, port, config, log).finally(() => {
        if (app.readiness.state() === 'draining') return
        watch()
        announce(`Millrace is listening on http://localhost:${port}`)
      })
    })
    return
  }
  // Nobody is sent to a worker that has not rendered a page yet.
  const door = await openPrivateDoor(server)
  await warmUp(app, door.port, { ...config, host: '127.0.0.1' }, log)
  if (app.readiness.state() === 'ready') door.close()
  if (app.readiness.state() === 'draining') return
  watch()
  server.listen(config.port, config.host, () => {
    const { port } = server.address() as AddressInfo
    destination.flushSync()
    member.link.tell({ kind: 'ready', port })
  })
}
