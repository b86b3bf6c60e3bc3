/**
 * `npm run dev [-- --app <folder>]`: serves an application from its sources, on this machine only. Saving a file
 * refreshes open pages, and failures are shown in them.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { BuildFault } from './build/build-fault.ts'
import { readBuildArguments } from './build/build-options.ts'
import { contentHash } from './build/content-hash.ts'
import { ConfigError, readConfig } from '../src/server/config/config.ts'
import { startDevServer } from './dev/dev-server.ts'

try {
  process.env['NODE_ENV'] = 'development'
  const { root, app } = readBuildArguments(process.argv.slice(2))
  const { port } = readConfig(process.env)
  const started = performance.now()
  const server = await startDevServer({
    root,
    app,
    out: join(root, 'node_modules/.cache/millrace-dev', contentHash(app).slice(0, 8)),
    port,
    env: process.env,
    session: randomUUID(),
    print: (text) => console.log(text),
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
} catch (error) {
  const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (!taken && !(error instanceof BuildFault) && !(error instanceof ConfigError)) throw error
  console.error(taken ? `${error.message}: name another port with PORT=<n>.` : error.message)
  process.exit(1)
}
