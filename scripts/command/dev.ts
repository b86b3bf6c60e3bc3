import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { subscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stop as stopEsbuild } from 'esbuild'
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
  const children = trackChildren()
  const starting = startDevServer({
    ...options,
    ...listening,
    out: join(root, 'node_modules/.cache/millrace-dev', contentHash(app).slice(0, 8)),
    cache: join(root, 'node_modules/.cache/millrace-packages'),
    port,
    allowHosts,
    pollMs,
    env: process.env,
    session: randomUUID(),
    onListening(server) {
      const time = Math.round(performance.now() - started)
      console.log(`Millrace (development) is listening on ${server.url}, after ${time} ms.`)
      for (const text of listeningTexts(server, listening)) console.log(text)
    },
    print: (text) => console.log(text),
  })
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofFiles.has(name)))
  const unwatch = watchSettings({
    root,
    cwd: process.cwd(),
    env,
    print: (text) => console.log(text),
    pollMs,
    restart: () => void startAgain(starting, children, env),
  })
  const server = await starting.catch((error: unknown) => {
    unwatch()
    throw listenFault(error, values.host) ?? error
  })
  const stop = async (): Promise<void> => {
    unwatch()
    await server.close()
    process.exit()
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
}

const EXIT_LIMIT_MS = 2_000 // esbuild ends in a few

/** Processes that this one has started and that have not ended. */
function trackChildren(): ReadonlySet<ChildProcess> {
  const children = new Set<ChildProcess>()
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess }
    children.add(child)
    child.once('exit', () => children.delete(child))
  })
  return children
}

/**
 * Replaces this process, since Node cannot load a config's modules again. Open pages reload with the next server.
 * @param children must have ended before: the next program does not know them, and could not collect their exit.
 */
async function startAgain(
  starting: Promise<DevServer>,
  children: ReadonlySet<ChildProcess>,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (process.execve === undefined) {
    console.log('This platform cannot restart a process: end this command, and start it again.')
    return
  }
  const server = await starting
  await server.close()
  await stopEsbuild()
  const ends = [...children].map((child) => once(child, 'exit'))
  await Promise.race([Promise.all(ends), delay(EXIT_LIMIT_MS)])
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env)
}
