import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { RequestHandler } from 'express'

/** Options of `millrace`. */
export interface MillraceOptions {
  /** The folder of the build: `new URL('./dist/', import.meta.url)`, or an absolute path. */
  readonly dist: URL | string
  /**
   * The HTTP server of the host. With it, connections are limited, and `stop` closes them in order. Pass it before it
   * listens; one for all applications.
   */
  readonly server?: Server | undefined
  /**
   * The configuration. Default: `process.env`. `PORT`, `HOST`, `WORKERS` and `METRICS_PORT` are the host's and ignored.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** A built application as Express middleware. */
export interface EmbeddedApp extends RequestHandler {
  /**
   * Ends the application: lets answers in progress finish, runs what its `start` has returned, and flushes reports. Later
   * calls give the same answer. Without `server` the host closes its connections itself.
   * @returns whether everything was finished within `SHUTDOWN_GRACE_MS`.
   */
  stop(): Promise<boolean>
}

/** What `server/handler.js` of a build exports for `millrace`. */
interface HandlerModule {
  embed(options: Omit<MillraceOptions, 'dist'>): Promise<EmbeddedApp>
}

/**
 * Makes a built application middleware of an existing Express 5 server, at the base path that it was built for:
 *
 * ```ts
 * import express from 'express'
 * import { millrace } from 'millrace/server'
 *
 * const host = express()
 * host.use('/shop', await millrace({ dist: new URL('./dist/', import.meta.url) }))
 * ```
 *
 * Resolves when the application has started. Requests that its table does not answer go to the host's next
 * middleware. It does not listen to signals or uncaught exceptions of the process. A rejected promise of a request's code that
 * nothing handles does not end the process; the host's own are raised as by Node.
 * @throws {Error} if there is no build; the message names the folder.
 * @throws {ConfigError} for a wrong value of the configuration.
 * @throws what the application's `start` throws.
 */
export async function millrace({ dist, ...options }: MillraceOptions): Promise<EmbeddedApp> {
  const folder = typeof dist === 'string' ? pathToFileURL(dist) : dist
  const file = new URL(`${folder.href.replace(/\/?$/, '/')}server/handler.js`)
  if (!existsSync(file)) {
    throw new Error(`millrace(): there is no build in ${fileURLToPath(folder)}. Make one: npm run build`)
  }
  const { embed } = (await import(/* @vite-ignore */ file.href)) as HandlerModule
  return embed(options)
}
