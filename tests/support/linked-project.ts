/** A project with an application of its own and this repository as its `millrace`, and the commands there. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { freePort } from './free-ports.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

const BIN = join(PROJECT, 'bin/millrace.js')

/**
 * Makes a project with a small application.
 * @param root its folder; must not exist.
 * @param files by path in it; they replace those of the application.
 */
export async function makeLinkedProject(root: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  await cp(join(PROJECT, 'tests/fixtures/build-dev'), join(root, 'src/app'), { recursive: true })
  return linkProject(root, files)
}

/** Makes a project of these files alone. */
export async function linkProject(root: string, files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(join(root, 'node_modules'), { recursive: true })
  await symlink(PROJECT, join(root, 'node_modules/millrace'))
  for (const peer of ['react', 'react-dom']) {
    await symlink(join(PROJECT, 'node_modules', peer), join(root, 'node_modules', peer))
  }
  await writeFiles(root, { 'package.json': '{ "type": "module", "dependencies": { "react": "*" } }', ...files })
  return root
}

/** Writes files by path in a folder, and makes their folders. */
export async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

/** How a command ended. */
interface MillraceEnd {
  readonly code: number
  readonly out: string
  readonly errors: string
}

/** Runs a command in a folder to its end. */
export function runMillrace(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<MillraceEnd> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [...MILLRACE, ...args],
      { cwd, env: surroundings(cwd, env) },
      (_, out, errors) => done({ code: child.exitCode ?? -1, out, errors }),
    )
  })
}

/** `millrace dev` as a process. */
interface DevCommand extends AsyncDisposable {
  /** Nothing listens there between two servers of a restart. */
  readonly origin: string
  /** All that it has printed. */
  output(): string
  isRunning(): boolean
}

/** Starts `millrace dev` on a free port. Resolves when it listens. */
export async function startDevCommand(cwd: string): Promise<DevCommand> {
  const port = await freePort()
  const child = spawn(process.execPath, [...MILLRACE, 'dev'], {
    cwd,
    env: surroundings(cwd, { PORT: String(port) }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed: string[] = []
  const listening = new Promise<void>((done) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed.push(text)
        if (text.includes('is listening')) done()
      })
    }
  })
  const closed = once(child, 'close')
  await Promise.race([listening, closed])
  return {
    origin: `http://localhost:${port}`,
    output: () => printed.join(''),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await closed
    },
  }
}

const MILLRACE = ['--conditions=millrace-source', BIN] as const

/** The developer's own variables stay out. */
function surroundings(folder: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  const cache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  return { PATH, HOME, ...cache, PORT: '0', HOST: '127.0.0.1', DATA_DIR: join(folder, 'data'), ...env }
}
