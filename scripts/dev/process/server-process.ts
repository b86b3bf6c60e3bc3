import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createInspectorHandOver, inspectedArguments, type InspectorAddress } from './inspector-port.ts'

/** The application's server in a separate process, replaced by a new one at each change. */
export interface ServerProcess {
  /**
   * Starts another generation; requests wait for it. The previous one ends when this one is ready, or at once if it was
   * not ready itself: its answers would be outdated.
   * @param main the module that the process runs.
   * @param message sent to it. With one, a process that runs `main` and waits for its message is kept ready for the next
   * generation, which then starts sooner.
   */
  replace(main: string, message?: string): void
  /**
   * The port of the newest generation, once it listens. One that has ended since is started again.
   * @throws {ServerStartError} if it ended before it listened; it is not retried before `replace`.
   */
  port(): Promise<number>
  /** Ends all generations. */
  stop(): Promise<void>
}

/** Output of the server. */
interface ServerOutput {
  /** @param isCurrent whether this generation is still the newest. */
  line(text: string, isCurrent: boolean): void
}

/** A server that ended before it listened. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError'
  /** Its stderr. */
  readonly output: string

  constructor(output: string, code: number | null) {
    super(`The server ended before it was listening, with exit code ${code ?? 'none'}.`)
    this.output = output
  }
}

/** What a process runs. */
interface Program {
  readonly main: string
  readonly message?: string | undefined
}

interface Generation {
  readonly child: ChildProcess
  readonly port: Promise<number>
  /** Whether the port is known. */
  listens: boolean
}

/** Matches the whole line, with a base path: an application may print other addresses. */
const LISTENING = /^Millrace is listening on http:\/\/localhost:(\d{1,5})(?:\/[\w./-]+)?$/
const MOST_ERROR_LINES = 200 // a server that fails at its start prints the reason last
const STOP_LIMIT_MS = 2_000 // an event stream of the application would stay open forever
const SPARE_DELAY_MS = 500 // leaves the processor to the pages that a new generation answers first

/**
 * @param env environment of the server; it always listens on a free port of the loopback interface.
 * @param onStartFailure called once for each generation that ended before it listened.
 * @param inspector of the newest generation; only a program with a message gets one. The previous generation closes its own
 * first, and a debugger connects again.
 */
export function createServerProcess(
  env: Readonly<Record<string, string | undefined>>,
  output: ServerOutput,
  onStartFailure: (error: ServerStartError) => void,
  inspector?: InspectorAddress,
): ServerProcess {
  const running = new Set<ChildProcess>()
  const retired = new WeakSet<ChildProcess>() // messages about their end are ignored
  const state: {
    program?: Program
    current?: Generation
    failed?: ServerStartError
    spare?: { readonly main: string; readonly generation: Generation }
    timer?: NodeJS.Timeout
  } = {}
  const handOver = createInspectorHandOver(inspector)

  function start(main: string): Generation {
    const child = launch(main, env, inspector)
    running.add(child)
    child.once('close', () => {
      running.delete(child)
      if (state.current?.child === child) delete state.current
      if (state.spare?.generation.child === child) delete state.spare
    })
    return readOutput(child, (text) => {
      if (!retired.has(child)) output.line(text, state.current?.child === child)
    })
  }

  /** The process that waits for this program, or a new one. */
  function take({ main, message }: Program): Generation {
    const { spare } = state
    delete state.spare
    clearTimeout(state.timer)
    if (spare !== undefined && (spare.main !== main || message === undefined)) retire(spare.generation.child)
    const taken = spare !== undefined && !retired.has(spare.generation.child) ? spare.generation : start(main)
    // Its exit reports its end.
    if (message !== undefined) handOver(state.current?.child, () => taken.child.send(message, () => undefined))
    return taken
  }

  function prepareSpare({ main, message }: Program): void {
    if (message === undefined) return
    state.timer = setTimeout(() => {
      const generation = start(main)
      generation.port.catch(() => undefined) // nobody waits for it yet
      state.spare = { main, generation }
    }, SPARE_DELAY_MS)
  }

  function retire(child: ChildProcess): void {
    retired.add(child)
    void stop(child)
  }

  function replace(program: Program): void {
    const previous = state.current
    const next = take(program)
    state.current = next
    delete state.failed
    const end = (): void => previous && retire(previous.child)
    if (previous?.listens === false) end()
    const ready = (): void => {
      end()
      if (state.current === next) prepareSpare(program)
    }
    next.port.then(ready, (error: unknown) => {
      end()
      if (!(error instanceof ServerStartError) || next.child.signalCode !== null || retired.has(next.child)) return
      state.failed = error
      onStartFailure(error)
    })
  }

  return {
    replace(main, message) {
      state.program = { main, message }
      replace(state.program)
    },
    async port() {
      for (;;) {
        if (state.failed !== undefined) throw state.failed
        if (state.program === undefined) throw new Error('No server has been built yet.')
        if (state.current === undefined) replace(state.program)
        const awaited = state.current
        const port = await awaited?.port.catch((error: unknown) => {
          if (awaited === undefined || !retired.has(awaited.child)) throw error
        })
        if (port !== undefined && awaited === state.current) return port
      }
    },
    async stop() {
      clearTimeout(state.timer)
      await Promise.all([...running].map(stop))
    },
  }
}

function launch(main: string, env: NodeJS.ProcessEnv, inspector: InspectorAddress | undefined): ChildProcess {
  return spawn(process.execPath, inspectedArguments(main, inspector), {
    env: {
      ...env,
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: '0',
      WORKERS: '',
      METRICS_PORT: '',
      // The gateway, which says who the client is; see forwarded-headers.ts.
      TRUST_PROXY: ['127.0.0.1', env['TRUST_PROXY']].filter(Boolean).join(','),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}

/** @param tell called with each line except the one with the port. */
function readOutput(child: ChildProcess, tell: (text: string) => void): Generation {
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('The server has no output to read.')
  const errors: string[] = []
  const { promise: port, resolve, reject } = Promise.withResolvers<number>()
  const generation = { child, port, listens: false }
  createInterface({ input: stdout }).on('line', (text) => {
    const listening = LISTENING.exec(text)
    if (listening === null) return tell(text)
    generation.listens = true
    resolve(Number(listening[1]))
  })
  createInterface({ input: stderr }).on('line', (text) => {
    if (!generation.listens) errors.push(text)
    if (errors.length > MOST_ERROR_LINES) errors.shift()
    tell(text)
  })
  child.once('close', (code) => reject(new ServerStartError(errors.join('\n'), code)))
  return generation
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  const overdue = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
  await ended
  clearTimeout(overdue)
}
