import type { IncomingMessage, ServerResponse } from 'node:http'
import { createApp as createMillraceApp } from './app.ts'
import type { AppDefinition } from './api/define-app.ts'
import { readConfig } from './config/config.ts'
import type { ActionModules } from './routes/actions/registry.ts'

/** Options of `createApp`. */
export interface CreateAppOptions {
  /** The default export of `app.ts`. */
  readonly app: AppDefinition
  /** The environment of the server and of the application. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * The modules that declare actions, by their paths in the application's folder: `{ 'sign-in/actions.server.ts':
   * signIn }`. A build finds them by itself.
   */
  readonly actions?: ActionModules
}

/** An application as a request listener, or as middleware of an Express server. It listens to no port by itself. */
export interface CreatedApp {
  (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void): void
  /**
   * Runs the application's `start`.
   * @throws what that throws.
   */
  start(): Promise<void>
  /**
   * Runs the application's `stop`, waits for work of `context.after`, sends reports, and closes the stores. Close the server
   * first.
   * @param deadline ends the wait. Default: after `SHUTDOWN_GRACE_MS`.
   * @returns whether everything was finished by then.
   */
  stop(deadline?: AbortSignal): Promise<boolean>
}

/**
 * Makes an application from its sources: without a build, its documents have no scripts and stylesheets. For servers and
 * tests that need no more than that; `millrace` mounts a build, and `createTestApp` of `millrace/testing` is shorter in a
 * test.
 * @throws {RouteTableError} for a faulty route table; {RuleError} for a faulty rule; {ConfigError} for a variable that does
 * not fit; {Error} for a faulty action module.
 * @example
 * ```ts
 * import { createApp } from 'millrace/server'
 *
 * const server = createApp({ app: application })
 * await server.start()
 * ```
 */
export function createApp({ app: definition, env = process.env, actions }: CreateAppOptions): CreatedApp {
  const config = readConfig(env)
  const app = createMillraceApp({
    app: definition,
    config,
    environment: env,
    ...(actions === undefined ? {} : { actions }),
  })
  return Object.assign(app, {
    start: () => app.life.start(),
    async stop(deadline = AbortSignal.timeout(config.shutdownGraceMs)) {
      const isOrderly = await app.life.stop(deadline)
      await app.reporter?.flush()
      await app.reports.flush(deadline)
      app.dispose()
      return isOrderly
    },
  })
}
