import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { locateApplication } from '../build/build-options.ts'
import { contentHash } from '../build/content-hash.ts'
import { readArguments } from '../build/read-arguments.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { startDevServer, type DevServer } from '../dev/dev-server.ts'
import { checkInspectorPort, listenFault, listeningTexts } from './dev-listening.ts'
import { allowedHosts, certificateOf, DEV_ARGUMENTS, inspectorOf, pollOf } from './dev-options.ts'
import { watchSettings } from './settings-watch.ts'

/**
 * `millrace dev`: serves an application from its sources, on this machine only unless told. Saving a file refreshes open pages,
 * and what fails is shown in them.
 * @param ofFiles names of the variables from `.env` files.
 * @throws {BuildFault} where there is no application, a port is taken, or an option is wrong; {ConfigError} on a wrong
 * variable.
 */
export async function dev(args: readonly string[], ofFiles: ReadonlySet<string>): Promise<void> {
  process.env['NODE_ENV'] = 'development'
  const values = readArguments(args, DEV_ARGUMENTS)
  const inspector = inspectorOf(values)
  const allowHosts = allowedHosts(values)
  const pollMs = pollOf(values, process.env)
  const options = await locateApplication(values)
  const { root, app } = options
  const { port } = readConfig(process.env)
  const started = performance.now()
  const certificate = await certificateOf(values, allowHosts)
  const listening = { host: values.host, certificate, inspector }
  if (inspector !== undefined) await checkInspectorPort(inspector)
  const starting = startDevServer({
    ...options,
    ...listening,
    out: join(root, 'node_modules/.cache/millrace-dev', contentHash(app).slice(0, 8)),
    port,
    allowHosts,
    pollMs,
    env: process.env,
    session: randomUUID(),
    print: (text) => console.log(text),
  })
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofFiles.has(name)))
  const unwatch = watchSettings({
    root,
    cwd: process.cwd(),
    env,
    print: (text) => console.log(text),
    pollMs,
    restart: () => void startAgain(starting, env),
  })
  const server = await starting.catch((error: unknown) => {
    unwatch()
    throw listenFault(error, values.host) ?? error
  })
  console.log(
    `Millrace (development) is listening on ${server.url}, after ${Math.round(performance.now() - started)} ms.`,
  )
  for (const text of listeningTexts(server, listening)) console.log(text)
  const stop = async (): Promise<void> => {
    unwatch()
    await server.close()
    process.exit()
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
}

/** Replaces this process, since Node cannot load a config's modules again. Open pages reload with the next server. */
async function startAgain(starting: Promise<DevServer>, env: NodeJS.ProcessEnv): Promise<void> {
  if (process.execve === undefined) {
    console.log('This platform cannot restart a process: end this command, and start it again.')
    return
  }
  const server = await starting
  await server.close()
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env)
}
