import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createVisitor, type Visitor, type VisitorOptions } from './visitor.ts'

/** Options of `startBuild`. */
export interface StartBuildOptions {
  /** Configuration. Of the environment of the test only `PATH` and `HOME` are passed on. */
  readonly environment?: Readonly<Record<string, string>> | undefined
}

/** A built application that runs in a process of its own, as in production. */
export interface StartedBuild extends AsyncDisposable {
  /** @returns `http://127.0.0.1:<port>`. */
  origin(): Promise<string>
  /** A visitor with an empty jar of cookies. */
  visitor(options?: VisitorOptions): Visitor
  /** What it has printed so far: its log, one JSON object a line. */
  readonly output: readonly string[]
  /**
   * Ends it by SIGTERM and removes its temporary folder.
   * @throws {Error} with its output, if it does not end in good order.
   */
  stop(): Promise<void>
}

const LISTENING = /^Millrace is listening on http:\/\/localhost:(\d+)/
const START_LIMIT_MS = 30_000 // a start that takes longer hangs
const STOP_LIMIT_MS = 30_000 // above SHUTDOWN_GRACE_MS, after which it ends by itself

/**
 * Starts what `millrace build` has made, on a free port of 127.0.0.1 and with a temporary folder for its data.
 * @param dist the build's folder, absolute: `new URL('../dist/', import.meta.url)`.
 * @throws {Error} with its output, if it ends before it listens.
 */
export async function startBuild(dist: URL | string, options: StartBuildOptions = {}): Promise<StartedBuild> {
  const folder = typeof dist === 'string' ? dist : fileURLToPath(dist)
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-build-'))
  const { PATH = '', HOME = '' } = process.env
  const own = { NODE_ENV: 'production', PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir }
  const child = spawn(process.execPath, ['--enable-source-maps', join(folder, 'server/main.js')], {
    env: { PATH, HOME, ...own, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close').finally(() => rm(dataDir, { recursive: true, force: true }))
  // A test that forgets to stop it ends nevertheless, and this with it.
  const endWithTest = (): void => void child.kill('SIGKILL')
  process.once('exit', endWithTest)
  void ended.finally(() => process.off('exit', endWithTest)).catch(() => undefined)
  const output: string[] = []
  const port = await portOf(child, output, ended)
  const origin = (): Promise<string> => Promise.resolve(`http://127.0.0.1:${port}`)
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= end(child, ended, output))
  return {
    origin,
    visitor: (visitor) => createVisitor({ origin }, visitor),
    output,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function portOf(child: ChildProcess, output: string[], ended: Promise<unknown>): Promise<string> {
  const late = AbortSignal.timeout(START_LIMIT_MS)
  try {
    return await new Promise<string>((resolve, reject) => {
      const fail = (what: string): void => reject(new Error(`The server ${what}.\n${output.join('\n')}`))
      for (const stream of [child.stdout, child.stderr]) {
        if (stream === null) continue
        createInterface({ input: stream }).on('line', (line) => {
          output.push(line)
          const [, port] = LISTENING.exec(line) ?? []
          if (port !== undefined) resolve(port)
        })
      }
      ended.then(() => fail('ended before it was listening'), reject)
      late.addEventListener('abort', () => fail(`was not listening after ${START_LIMIT_MS} ms`))
    })
  } catch (thrown) {
    child.kill('SIGKILL')
    throw thrown
  }
}

async function end(child: ChildProcess, ended: Promise<unknown>, output: readonly string[]): Promise<void> {
  child.kill('SIGTERM')
  const hangs = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
  await ended
  clearTimeout(hangs)
  if (child.exitCode !== 0) {
    throw new Error(`The server ended with ${child.exitCode ?? child.signalCode}.\n${output.join('\n')}`)
  }
}
