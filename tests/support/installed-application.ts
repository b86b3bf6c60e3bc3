/** The package as its users get it: packed, and installed into an application in a folder outside of this project. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises'
import { basename, delimiter, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { makeTempDir } from './temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

/** How a command ended. */
export interface CommandEnd {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** A folder outside of the project. */
export interface OutsideFolder extends AsyncDisposable {
  readonly path: string
  /** Runs a command there, with the tools of a folder's own packages first. */
  run(command: readonly string[], options?: OutsideOptions): Promise<CommandEnd>
  /** Starts a server there. @returns its origin, once it says that it listens. */
  serve(command: readonly string[], options?: OutsideOptions): Promise<OutsideServer>
}

/** Where and with what a command runs. */
interface OutsideOptions {
  /** Below the folder. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A server that a test has started. */
export interface OutsideServer extends AsyncDisposable {
  readonly origin: string
  /** Ends it by SIGTERM. @returns its exit code. */
  stop(): Promise<number | null>
}

/** What a machine sets for every program, and nothing of the test run. */
const OF_MACHINE =
  /^(?:HOME|LANG|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(?:https?|no)_proxy|npm_config_registry|CHROMIUM_PATH)$/i

function surroundings(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => OF_MACHINE.test(name)))
}

/** Makes a folder that has nothing of this project around it. */
export async function makeOutsideFolder(): Promise<OutsideFolder> {
  const temp = await makeTempDir('package')

  function start([command = '', ...args]: readonly string[], { cwd = '', env = {} }: OutsideOptions): ChildProcess {
    const { PATH = '' } = process.env
    const folder = join(temp.path, cwd)
    const path = [join(folder, 'node_modules/.bin'), join(process.execPath, '..'), PATH].join(delimiter)
    return spawn(command, args, {
      cwd: folder,
      env: {
        ...surroundings(),
        PATH: path,
        HOST: '127.0.0.1',
        DATA_DIR: join(temp.path, 'data'),
        NO_COLOR: '1',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  return {
    path: temp.path,
    async run(command, options = {}) {
      const child = start(command, options)
      const { stdout, stderr } = child
      if (stdout === null || stderr === null) throw new Error('The command has no output to read.')
      const [out, errors, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'close')])
      return { code, out, errors }
    },
    async serve(command, { env = {}, ...options } = {}) {
      const child = start(command, { ...options, env: { PORT: '0', ...env } })
      if (child.stdout === null || child.stderr === null) throw new Error('The server has no output to read.')
      const errors = text(child.stderr)
      const ended = once(child, 'close')
      const stop = async (): Promise<number | null> => {
        child.kill('SIGTERM')
        const [code] = (await ended) as [number | null]
        return code
      }
      for await (const line of createInterface({ input: child.stdout })) {
        const origin = /http:\/\/localhost:\d+/.exec(line)?.[0]
        if (origin === undefined) continue
        child.stdout.resume()
        return { origin, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
      }
      throw new Error(`It ended before it was listening.\n${await errors}`)
    },
    [Symbol.asyncDispose]: temp.remove,
  }
}

/**
 * Copies an example of the project into a folder and installs it: the package from the archive, all others as its lock file
 * names them.
 * @returns the example's folder below the other one.
 * @throws {Error} with what npm has said.
 */
export async function installExample(folder: OutsideFolder, archive: string, name: string): Promise<string> {
  const here = join(PROJECT, 'examples', name)
  const there = join(folder.path, name)
  await cp(here, there, { recursive: true, filter: (path) => !/[\\/](?:node_modules|dist|data)$/.test(path) })
  const [manifest, lock] = await Promise.all(['package.json', 'package-lock.json'].map((file) => readJson(there, file)))
  manifest.dependencies.millrace = `file:${archive}`
  lock.packages[''].dependencies.millrace = `file:${archive}`
  delete lock.packages['../..']
  delete lock.packages['node_modules/millrace']
  await writeFile(join(there, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(there, 'package-lock.json'), JSON.stringify(lock))
  const install = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline']
  const { code, out, errors } = await folder.run(install, { cwd: name })
  if (code !== 0) throw new Error(`${name} cannot be installed.\n${out}${errors}`)
  return there
}

// oxlint-disable-next-line typescript/no-explicit-any -- npm's files
async function readJson(folder: string, file: string): Promise<any> {
  return JSON.parse(await readFile(join(folder, file), 'utf8'))
}

/**
 * Puts the archive of this run into a folder; see `packed-archive.ts`.
 * @returns the archive's path there.
 */
export async function packedArchive(folder: OutsideFolder): Promise<string> {
  const archive = inject('archive')
  const there = join(folder.path, basename(archive))
  await copyFile(archive, there)
  return there
}
