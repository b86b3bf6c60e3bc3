import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { BuildFault } from '../build/build-fault.ts'
import { readBuildArguments } from '../build/build-options.ts'
import { contentHash } from '../build/content-hash.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { startDevServer } from '../dev/dev-server.ts'

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
  const stop = async (): Promise<void> => {
    await server.close()
    process.exit()
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
}
