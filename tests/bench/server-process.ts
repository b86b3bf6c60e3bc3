import { cpus } from 'node:os'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../support/free-ports.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { PROJECT } from './bundle.ts'

/** The core of the servers, and the core of everything that asks them. */
const SERVER_CORE = 0
const LOAD_CORE = 1

const POLL_MS = 2 // the resolution of the start-up time
const START_LIMIT_MS = 30_000

/** A server that is to be measured. */
export interface Contestant {
  /** `ours` or `bare`, in reports. */
  readonly name: string
  /** Absolute path of its bundle. */
  readonly entry: string
  /** Further variables. */
  readonly env?: Readonly<Record<string, string>>
}

/** A running one. */
export interface RunningServer extends AsyncDisposable {
  readonly contestant: Contestant
  readonly origin: string
  readonly pid: number
  /** From spawn to the first 200, in ms. */
  readonly startMs: number
  /** Address of its inspector, where `inspect` was asked for. */
  readonly inspector: string | undefined
  /** SIGTERM, then waits for the end. */
  stop(): Promise<void>
}

const hasTaskset = spawnSync('taskset', ['-V']).error === undefined

/** A command, kept to one core where the system can do that. */
function pinned(core: number, command: readonly string[]): readonly [string, ...string[]] {
  const [program = process.execPath, ...args] = command
  return hasTaskset ? ['taskset', '-c', String(core), program, ...args] : [program, ...args]
}

/** Moves this process, and with it what it starts from now on, off the servers' core. */
export function leaveServerCore(): void {
  if (hasTaskset) spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)])
}

/** Uses all cores for work whose parts share them: a development server, its compilers and a browser. */
export async function onAllCores(work: () => Promise<void>): Promise<void> {
  if (hasTaskset) spawnSync('taskset', ['-a', '-c', '-p', `0-${cpus().length - 1}`, String(process.pid)])
  try {
    await work()
  } finally {
    leaveServerCore()
  }
}

/** Says how the run is laid out, for the head of the report. */
export function layout(): string {
  return hasTaskset ? `servers on core ${SERVER_CORE}, load on core ${LOAD_CORE}` : 'not pinned: no taskset here'
}

/**
 * Starts a server in a process of its own and waits for the first 200.
 * @param path what is asked for until it answers.
 * @param options `inspect` opens Node's inspector on a free loopback port.
 * @throws {Error} with its stderr when it ends early or never answers.
 */
export async function startServer(
  contestant: Contestant,
  path: string,
  options: { readonly inspect?: boolean } = {},
): Promise<RunningServer> {
  const port = await freePort()
  const data = await makeTempDir('bench')
  const inspect = options.inspect === true ? ['--inspect=127.0.0.1:0'] : []
  const [program, ...args] = pinned(SERVER_CORE, [process.execPath, ...inspect, contestant.entry])
  const { PATH = '', HOME = '' } = process.env
  const startedAt = performance.now()
  const child = spawn(program, args, {
    cwd: PROJECT,
    env: {
      PATH,
      HOME,
      NODE_ENV: 'production',
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: data.path,
      LOG_LEVEL: 'info',
      ...contestant.env,
    },
    // The log is written in full, to a place that costs the reader nothing.
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const state = { ended: false, stderr: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => (state.stderr += text))
  const exited = once(child, 'exit').then(() => (state.ended = true))
  const origin = `http://127.0.0.1:${port}`
  while ((await statusOf(`${origin}${path}`)) !== 200) {
    if (state.ended || performance.now() - startedAt > START_LIMIT_MS) {
      child.kill('SIGKILL')
      throw new Error(`The server ${contestant.entry} does not answer ${path} with 200.\n${state.stderr}`)
    }
    await delay(POLL_MS)
  }
  const startMs = performance.now() - startedAt
  const stop = async (): Promise<void> => {
    await end(child, exited)
    await data.remove()
  }
  return {
    contestant,
    origin,
    pid: child.pid ?? 0,
    startMs,
    inspector: /ws:\/\/\S+/.exec(state.stderr)?.[0],
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function end(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM')
  const hung = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS)
  await exited
  clearTimeout(hung)
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((found) => {
    get(url, { agent: false }, (answer) => {
      answer.resume().once('close', () => found(answer.statusCode))
    }).once('error', () => found(undefined))
  })
}

/** Resident memory of a process in bytes. Source: proc(5), `VmRSS`. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no VmRSS.`)
  return Number(kilobytes) * 1024
}

/**
 * CPU time a process has used so far, all its threads, in clock ticks: only good for ratios.
 * Source: proc(5), `utime` and `stime` of /proc/[pid]/stat.
 */
export async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** How many file descriptors a process holds. */
export async function openDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}
