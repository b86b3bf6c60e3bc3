import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from './free-ports.ts'
import { programPath } from './programs.ts'
import { makeTempDir } from './temp-dir.ts'

const START_LIMIT_MS = 10_000 // a start that takes longer hangs
const READY = 'Ready to accept connections'

/** A Redis of a test's own, on the loopback, with nothing in it and nothing kept. */
export interface RedisServer extends AsyncDisposable {
  /** `redis://127.0.0.1:<port>`. */
  readonly url: string
  /** Ends it without a word; its data is lost. Connections are reset. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Lets it hang, as a machine that does not answer any more. */
  pause(): void
  /** Ends the hang. */
  resume(): void
}

/** Starts a Redis. @throws {Error} where none is installed, or it does not start. */
export async function startRedis(): Promise<RedisServer> {
  const path = programPath('redis-server')
  const folder = await makeTempDir('redis')
  const port = await freePort()
  const running: { child?: ReturnType<typeof launch> } = {}

  function launch() {
    return spawn(
      path,
      `--port ${port} --bind 127.0.0.1 --save  --appendonly no --maxmemory 512mb --maxmemory-policy volatile-lru`
        .split(' ')
        .concat('--dir', folder.path),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
  }

  async function start(): Promise<void> {
    const child = (running.child = launch())
    let said = ''
    const ready = Promise.withResolvers<void>()
    const timer = setTimeout(() => ready.reject(new Error(`Redis does not start:\n${said}`)), START_LIMIT_MS)
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      said += part
      if (said.includes(READY)) ready.resolve()
    })
    child.once('exit', () => ready.reject(new Error(`Redis has ended:\n${said}`)))
    child.once('error', ready.reject)
    await ready.promise.finally(() => clearTimeout(timer))
    child.stdout.removeAllListeners('data').resume()
  }

  async function stop(): Promise<void> {
    const { child } = running
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    stop,
    pause: () => void running.child?.kill('SIGSTOP'),
    resume: () => void running.child?.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      await stop()
      await folder.remove()
    },
  }
}
