import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTempDir } from './temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const START_LIMIT_MS = 30_000 // a start that takes longer hangs
const STOP_LIMIT_MS = 30_000 // above SHUTDOWN_GRACE_MS, after which the server ends by itself
const READY_POLL_MS = 10 // another process can only be asked
const LISTENING = /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d+)/

/** What a server is started with. */
export interface BuiltServerOptions {
  /** The bundle to run, from the project's folder. Default `dist/server/main.js`. */
  readonly entry?: string
  /** Configuration. Nothing but PATH and HOME of the caller's environment gets through. */
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node itself, such as `--expose-gc`. */
  readonly nodeArgs?: readonly string[]
  /** `DATA_DIR`, to keep over a restart; a temporary one unless told. */
  readonly dataDir?: string
  /** A command that ends by executing what is appended to it, in its own process. */
  readonly through?: (dataDir: string) => readonly string[]
}

/** How a server ended. */
interface ServerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server in a process of its own. */
export interface BuiltServer {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  readonly port: number
  readonly pid: number
  /** Its `DATA_DIR`. */
  readonly dataDir: string
  /** Lines of stdout so far. */
  readonly stdout: readonly string[]
  /** Text of stderr so far. */
  readonly stderr: () => string
  /** The lines of stdout that are JSON objects: the log. */
  logs(): Record<string, unknown>[]
  /** Settles when the process has ended, however that came. */
  readonly exited: Promise<ServerExit>
  /** Sends a signal and does not wait. */
  kill(signal: NodeJS.Signals): void
  /**
   * SIGTERM, then waits for the end; later calls give the same answer.
   * @throws {Error} with the output when the exit code is not the expected one, or it has to be killed.
   */
  stop(expectedCode?: number): Promise<ServerExit>
}

/**
 * Starts the built server on a free port and waits until `/readyz` says yes.
 * @throws {Error} with the output when it ends before that, or never is.
 */
export async function startBuiltServer(options: BuiltServerOptions = {}): Promise<BuiltServer> {
  const data = options.dataDir === undefined ? await makeTempDir('data') : undefined
  const dataDir = options.dataDir ?? data?.path ?? ''
  const entry = resolve(PROJECT, options.entry ?? 'dist/server/main.js')
  const command = [process.execPath, '--enable-source-maps', ...(options.nodeArgs ?? []), entry]
  const [program = process.execPath, ...args] = [...(options.through?.(dataDir) ?? []), ...command]
  const child = spawn(program, args, {
    cwd: PROJECT,
    env: childEnvironment({ PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collectOutput(child)
  const exited = watchExit(child).finally(() => data?.remove())
  const fail = (what: string): Error => new Error(`The server ${what}.\n${output.text()}`)
  try {
    const deadline = AbortSignal.timeout(START_LIMIT_MS)
    const early = exited.then((exit) => {
      throw fail(`ended before it was ready (exit code ${exit.code}, signal ${exit.signal})`)
    })
    const late = once(deadline, 'abort').then(() => {
      throw fail(`was not ready after ${START_LIMIT_MS} ms`)
    })
    const failure = Promise.race([early, late])
    failure.catch(() => undefined) // nobody waits for it any more once the server is ready
    const port = await Promise.race([output.port, failure])
    const origin = `http://127.0.0.1:${port}`
    await Promise.race([untilReady(origin, deadline), failure])
    return {
      origin,
      port,
      pid: child.pid ?? 0,
      dataDir,
      stdout: output.stdout,
      stderr: output.stderr,
      logs: () => parseLogs(output.stdout),
      exited,
      kill: (signal) => void child.kill(signal),
      stop: (expectedCode = 0) => stop(child, exited, expectedCode, fail),
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

/** The developer's own variables stay out: a test must not deliver reports to somebody's `SENTRY_DSN`. */
function childEnvironment(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, NODE_ENV: 'production', ...own }
}

function watchExit(child: ChildProcess): Promise<ServerExit> {
  return new Promise((resolvePromise, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolvePromise({ code, signal }))
  })
}

function collectOutput(child: ChildProcess) {
  const stdout: string[] = []
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const port = new Promise<number>((found) => {
    if (child.stdout === null) return
    createInterface({ input: child.stdout }).on('line', (line) => {
      stdout.push(line)
      const url = LISTENING.exec(line)
      if (url !== null) found(Number(url[1]))
    })
  })
  return { stdout, port, stderr: () => errors, text: () => [...stdout, errors].join('\n').trim() }
}

async function untilReady(origin: string, deadline: AbortSignal): Promise<void> {
  while (!deadline.aborted) {
    if ((await statusOf(`${origin}/readyz`)) === 200) return
    await delay(READY_POLL_MS)
  }
}

/** Asks on a connection of its own, so that none is left idle when a test looks at shutdown. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((found) => {
    get(url, { agent: false }, (answer) => {
      answer.resume().once('close', () => found(answer.statusCode))
    }).once('error', () => found(undefined))
  })
}

async function stop(
  child: ChildProcess,
  exited: Promise<ServerExit>,
  expectedCode: number,
  fail: (what: string) => Error,
): Promise<ServerExit> {
  child.kill('SIGTERM')
  const hung = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
  const exit = await exited
  clearTimeout(hung)
  if (exit.code === expectedCode) return exit
  throw fail(`ended with exit code ${exit.code}, signal ${exit.signal}; expected ${expectedCode}`)
}

function parseLogs(lines: readonly string[]): Record<string, unknown>[] {
  return lines.flatMap((line) => {
    if (!line.startsWith('{')) return []
    try {
      return [JSON.parse(line) as Record<string, unknown>]
    } catch {
      return []
    }
  })
}
