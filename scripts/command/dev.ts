import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { BuildFault } from '../build/build-fault.ts'
import { readBuildArguments } from '../build/build-options.ts'
import { contentHash } from '../build/content-hash.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { startDevServer, type DevServer } from '../dev/dev-server.ts'
import { watchSettings } from './settings-watch.ts'

/**
 * `millrace dev`: serves an application from its sources, on this machine only. Saving a file refreshes open pages, and what
 * fails is shown in them.
 * @throws {BuildFault} where there is no application, or the port is taken; {ConfigError} on a wrong variable.
 */
export async function dev(args: readonly string[]): Promise<void> {
  process.env['NODE_ENV'] = 'development'
  const options = await readBuildArguments(args, { hasOutput: false })
  const { root, app } = options
  const { port } = readConfig(process.env)
  const started = performance.now()
  const server = await startDevServer({
    ...options,
    out: join(root, 'node_modules/.cache/millrace-dev', contentHash(app).slice(0, 8)),
    port,
    env: process.env,
    session: randomUUID(),
    print: (text) => console.log(text),
  }).catch((error: unknown) => {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw taken ? new BuildFault(`${error.message}: name another port with PORT=<n>.`) : error
  })
  console.log(
    `Millrace (development) is listening on ${server.url}, after ${Math.round(performance.now() - started)} ms.`,
  )
  const unwatch = await watchSettings({
    root,
    cwd: process.cwd(),
    args,
    env: process.env,
    print: (text) => console.log(text),
    restart: (env) => void startAgain(server, env),
  })
  const stop = async (): Promise<void> => {
    unwatch()
    await server.close()
    process.exit()
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
}

/** Replaces this process, since Node cannot load a config's modules again. Open pages reload with the next server. */
async function startAgain(server: DevServer, env: NodeJS.ProcessEnv): Promise<void> {
  if (process.execve === undefined) {
    console.log('This platform cannot restart a process: end this command, and start it again.')
    return
  }
  await server.close()
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env)
}
