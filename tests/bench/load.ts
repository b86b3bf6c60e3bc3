import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PROJECT } from './bundle.ts'

const CONNECTIONS = 10 // enough to keep one core busy, few enough that nobody sheds load

/** What a load generator saw. */
export interface LoadResult {
  /** Requests a second. */
  readonly rate: number
  readonly requests: number
}

const hasWrk = spawnSync('wrk', ['-v']).error === undefined

/** Which generator is used: wrk where there is one, since it takes less of its core; else autocannon. */
export const GENERATOR = hasWrk ? 'wrk' : 'autocannon'

/**
 * Loads a URL for a time.
 * @throws {Error} when any answer was not 2xx, or any request failed: such a run measures something else.
 */
export async function loadFor(url: string, seconds: number): Promise<LoadResult> {
  return hasWrk ? runWrk(url, seconds) : runAutocannon(url, ['-d', String(seconds)])
}

/**
 * Sends a number of requests.
 * @throws {Error} as `loadFor`.
 */
export async function loadTimes(url: string, requests: number): Promise<LoadResult> {
  return runAutocannon(url, ['-a', String(requests)])
}

async function runWrk(url: string, seconds: number): Promise<LoadResult> {
  const text = await outputOf('wrk', ['-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, url])
  const rate = /^Requests\/sec:\s+([\d.]+)$/m.exec(text)?.[1]
  const requests = /^\s+(\d+) requests in /m.exec(text)?.[1]
  const trouble = /^.*(?:Non-2xx|Socket errors).*$/m.exec(text)?.[0]
  if (rate === undefined || requests === undefined || trouble !== undefined) {
    throw new Error(`${url}: ${trouble?.trim() ?? text}`)
  }
  return { rate: Number(rate), requests: Number(requests) }
}

/** The part of autocannon's JSON that is read here. */
interface AutocannonResult {
  readonly requests: { readonly total: number }
  readonly duration: number
  readonly errors: number
  readonly timeouts: number
  readonly non2xx: number
}

async function runAutocannon(url: string, amount: readonly string[]): Promise<LoadResult> {
  const program = join(PROJECT, 'node_modules/autocannon/autocannon.js')
  const text = await outputOf(process.execPath, [program, '-j', '-n', '-c', String(CONNECTIONS), ...amount, url])
  const { requests, duration, errors, timeouts, non2xx } = JSON.parse(text) as AutocannonResult
  if (errors + timeouts + non2xx > 0) {
    throw new Error(`${url}: ${errors} errors, ${timeouts} time-outs, ${non2xx} answers that are not 2xx`)
  }
  return { rate: requests.total / duration, requests: requests.total }
}

/**
 * Runs a generator in a process of its own; it inherits the load's core.
 * @throws {Error} with its stderr when it fails.
 */
export function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: PROJECT, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${program} ended with ${code}.\n${errors}`)),
    )
  })
}
