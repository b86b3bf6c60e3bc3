import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { contentHash } from '../build/content-hash.ts'
import { startDevServer, type DevServer } from '../dev/dev-server.ts'
import { checkInspectorPort, listenFault, listeningTexts } from './dev-listening.ts'
import { readDevSettings } from './dev-options.ts'
import { replaceProcess, trackChildren } from './replace-process.ts'
import { watchSettings } from './settings-watch.ts'
import { createTerminal } from './terminal.ts'

/**
 * `millrace dev`: serves an application from its sources, by default on this machine only. Saving a file refreshes open pages,
 * and what fails is shown in them.
 * @param env the environment without the values from `.env` files.
 * @throws {BuildFault} if there is no application, a port is taken, or an option is wrong; {ConfigError} on a wrong
 * variable.
 */
export async function dev(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  process.env['NODE_ENV'] = 'development'
  const started = performance.now()
  const { options, ...listening } = await readDevSettings(args)
  const { root, app } = options
  const { inspector, host, port, pollMs } = listening
  if (inspector !== undefined) await checkInspectorPort(inspector)
  const children = trackChildren()
  const { print, status } = createTerminal(process.stdout)
  const starting = startDevServer({
    ...options,
    ...listening,
    out: join(root, 'node_modules/.cache/millrace-dev', contentHash(app).slice(0, 8)),
    cache: join(root, 'node_modules/.cache/millrace-packages'),
    env: process.env,
    session: randomUUID(),
    onListening(server) {
      const time = Math.round(performance.now() - started)
      print(`Millrace (development) is listening on ${server.url}, after ${time} ms.`)
      for (const text of listeningTexts(server, listening)) print(text)
    },
    print,
    status,
  })
  const unwatch = watchSettings({
    args,
    root,
    cwd: process.cwd(),
    env,
    print,
    pollMs,
    otherwise: 'The settings from before stay in use.',
    restart: () => void startAgain(starting, children, env, port),
  })
  const server = await starting.catch((error: unknown) => {
    unwatch()
    throw listenFault(error, host) ?? error
  })
  const stop = async (): Promise<void> => {
    unwatch()
    await server.close()
    process.exit()
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
}

/** Open pages reload with the next server. */
async function startAgain(
  starting: Promise<DevServer>,
  children: ReadonlySet<ChildProcess>,
  env: NodeJS.ProcessEnv,
  port: number,
): Promise<void> {
  if (process.execve === undefined) {
    console.log('This platform cannot restart a process: end this command, and start it again.')
    return
  }
  const server = await starting.catch(() => undefined)
  if (server === undefined) return // this command says why, and ends
  await server.close()
  await replaceProcess(env, port, children)
}
