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
import { createApp } from './app.ts'
import type { AssetManifest } from './assets/manifest.ts'
import { ConfigError, describeConfig, readConfig, type Config } from './config.ts'
import { drain } from './ops/drain.ts'
import { guardConnections } from './ops/guard-connections.ts'
import { SERVER_OPTIONS, setServerLimits } from './ops/server-limits.ts'
import { warmUp } from './ops/warm-up.ts'

const LOG_BUFFER_BYTES = 4_096 // measured: a quarter of what handing each line to another thread costs
const LOG_FLUSH_MS = 100 // how late a line may be on a quiet server

if (process.argv.includes('--help')) {
  console.log(describeConfig())
} else {
  start(configOrExit())
}

function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

function start(config: Config): void {
  const dist = join(import.meta.dirname, '..')
  const manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as AssetManifest
  // Gathered, and flushed before the process ends. Synchronous, so that a reader who is too slow slows us down instead
  // of filling our memory.
  const destination = pino.destination({
    fd: 1,
    sync: true,
    minLength: LOG_BUFFER_BYTES,
    periodicFlush: LOG_FLUSH_MS,
  })
  const app = createApp({
    app: application,
    actions,
    config,
    assets: { manifest, folder: join(dist, 'public'), maps: join(dist, 'maps') },
    logDestination: destination,
  })
  const { log } = app

  const server = createServer({ ...SERVER_OPTIONS, shouldUpgradeCallback: app.shouldUpgrade }, app)
  setServerLimits(server)
  guardConnections(server)
  server.on('upgrade', app.upgrade)

  const leave = (code: number): never => {
    try {
      destination.flushSync()
    } catch {
      // Nothing was written yet, or stdout is closed: there is nobody left to tell.
    }
    process.exit(code)
  }

  server.on('error', (error) => {
    log.fatal({ err: { message: error.message } }, 'cannot listen')
    console.error(`Cannot listen on ${config.host}:${config.port}: ${error.message}`)
    leave(1)
  })

  const shutdown = async (signal: string, code: number): Promise<void> => {
    log.info({ signal }, 'shutting down')
    const deadline = AbortSignal.timeout(config.shutdownGraceMs)
    const orderly = await drain({ server, readiness: app.readiness, config })
    // What the service does not take in time waits on the disk for the next start.
    await app.reports.flush(deadline)
    app.dispose()
    log.info({ orderly }, 'stopped')
    leave(orderly ? code : 1)
  }
  const once = { started: false }
  const onSignal = (signal: string): void => {
    if (once.started) leave(1) // a second signal means now
    once.started = true
    void shutdown(signal, 0)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)

  // What nobody has caught leaves the process in an unknown state: say so once, serve what is in flight, and go.
  const onFatal = (error: unknown): void => {
    const shown =
      error instanceof Error
        ? { type: error.name, message: error.message, stack: error.stack }
        : { message: String(error) }
    log.fatal({ err: shown }, 'uncaught exception')
    if (once.started) return
    once.started = true
    void shutdown('uncaught exception', 1)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)

  server.listen(config.port, config.host, () => {
    const { port } = server.address() as AddressInfo
    void warmUp(app, port, config, log).finally(() => {
      if (app.readiness.state() === 'draining') return
      destination.flushSync()
      console.log(`Millrace is listening on http://localhost:${port}`)
    })
  })
}
