import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-ports.ts'
import { programPath } from './programs.ts'
import { makeTempDir } from './temp-dir.ts'

const START_LIMIT_MS = 30_000 // a start that takes longer hangs

/** A PostgreSQL of a test's own, on the loopback. */
export interface PostgresServer extends AsyncDisposable {
  /** `postgres://postgres@127.0.0.1:<port>/postgres`. */
  readonly url: string
  /** Ends it and its connections at once; its data stays. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
}

/**
 * Makes a database and starts its server, as an unprivileged user: it refuses to run as root.
 * @throws {Error} where none is installed, or it does not start.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await makeTempDir('postgres')
  const port = await freePort()
  const data = join(folder.path, 'data')
  const user = unprivilegedUser()
  if (user !== undefined) await chown(folder.path, user.uid, user.gid)
  const options = { ...user, cwd: folder.path }
  const init = [
    '--pgdata',
    data,
    '--username',
    'postgres',
    '--auth',
    'trust',
    '--encoding',
    'UTF8',
    '--no-locale',
    '--no-sync',
  ]
  await promisify(execFile)(programPath('initdb'), init, options)
  const running: { child?: ChildProcess } = {}

  async function start(): Promise<void> {
    const settings = ['fsync=off', 'listen_addresses=127.0.0.1', 'max_connections=20'].flatMap((one) => ['-c', one])
    const args = ['-D', data, '-p', String(port), '-k', folder.path, ...settings]
    const child = spawn(programPath('postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
    running.child = child
    let said = ''
    const ready = Promise.withResolvers<void>()
    const timer = setTimeout(() => ready.reject(new Error(`PostgreSQL does not start:\n${said}`)), START_LIMIT_MS)
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      said += part
      if (said.includes('ready to accept connections')) ready.resolve()
    })
    child.once('exit', () => ready.reject(new Error(`PostgreSQL has ended:\n${said}`)))
    child.once('error', ready.reject)
    await ready.promise.finally(() => clearTimeout(timer))
    child.stderr.removeAllListeners('data').resume()
  }

  async function stop(): Promise<void> {
    const { child } = running
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGINT') // "fast shutdown": connections are ended
    await ended
  }

  await start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      await folder.remove()
    },
  }
}

/** For root, another user; all others start it as themselves. */
function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (option: string): number => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}
