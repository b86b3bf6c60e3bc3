/**
 * `npm run dev [-- --app <folder>]`: serves an application from its sources, on this machine only. Saving a file
 * refreshes open pages, and what fails is shown in them.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { BuildFault } from './build/build-fault.ts'
import { PROJECT_ROOT, readBuildArguments } from './build/build-options.ts'
import { contentHash } from './build/content-hash.ts'
import { startDevServer } from './dev/dev-server.ts'

const DEFAULT_PORT = 3000

try {
  process.env['NODE_ENV'] = 'development'
  const { root, app } = readBuildArguments(process.argv.slice(2))
  const started = performance.now()
  const server = await startDevServer({
    root,
    app,
    out: join(PROJECT_ROOT, 'node_modules/.cache/millrace-dev', contentHash(app).slice(0, 8)),
    port: Number(process.env['PORT'] ?? DEFAULT_PORT),
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
  if (!taken && !(error instanceof BuildFault)) throw error
  console.error(
    taken ? `Port ${process.env['PORT'] ?? DEFAULT_PORT} is in use; name another one with PORT=<n>.` : error.message,
  )
  process.exit(1)
}
