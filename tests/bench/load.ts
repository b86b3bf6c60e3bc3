import { spawn, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROJECT } from './bundle.ts'

const CONNECTIONS = 10 // enough to keep one core busy, few enough that nobody sheds load

/** What a load generator saw. */
interface LoadResult {
  /** Requests a second. */
  readonly rate: number
  readonly requests: number
}

/** A form that is sent again and again. */
export interface PostedForm {
  /** For what the generator wants in a file. */
  readonly folder: string
  /** URL-encoded; `[<id>]` stands for a number that no other request has. */
  readonly body: string
}

const FORM_TYPE = 'application/x-www-form-urlencoded'

/** In a file: autocannon takes an argument that ends in a bracket for the end of a group of options. */
async function formArgs({ folder, body }: PostedForm): Promise<readonly string[]> {
  const path = join(folder, 'post.txt')
  await writeFile(path, body)
  return ['-m', 'POST', '-I', '-H', `Content-Type=${FORM_TYPE}`, '-i', path]
}

const hasWrk = spawnSync('wrk', ['-v']).error === undefined

/** Which generator is used: wrk where there is one, since it takes less of its core; else autocannon. */
export const GENERATOR = hasWrk ? 'wrk' : 'autocannon'

/** What each request brings. */
interface SentParts {
  readonly form?: PostedForm
  /** Value of `Cookie`. */
  readonly cookie?: string | undefined
}

/**
 * Loads a URL for a time.
 * @throws {Error} when any answer was an error, or any request failed: such a run measures something else.
 */
export async function loadFor(url: string, seconds: number, { form, cookie }: SentParts = {}): Promise<LoadResult> {
  const posted = form === undefined ? [] : await (hasWrk ? scriptArgs(form) : formArgs(form))
  if (hasWrk) return runWrk(url, seconds, [...posted, ...(cookie === undefined ? [] : ['-H', `Cookie: ${cookie}`])])
  const brought = [...posted, ...(cookie === undefined ? [] : ['-H', `Cookie=${cookie}`])]
  return runAutocannon(url, ['-d', String(seconds), ...brought])
}

/**
 * Sends a number of requests.
 * @throws {Error} as `loadFor`.
 */
export async function loadTimes(url: string, requests: number): Promise<LoadResult> {
  return runAutocannon(url, ['-a', String(requests)])
}

async function runWrk(url: string, seconds: number, brought: readonly string[]): Promise<LoadResult> {
  // A script with a fault is left aside by wrk, which then asks for the page instead of sending the form.
  const text = await outputOf('wrk', ['-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, ...brought, url], true)
  const rate = /^Requests\/sec:\s+([\d.]+)$/m.exec(text)?.[1]
  const requests = /^\s+(\d+) requests in /m.exec(text)?.[1]
  const trouble = /^.*(?:Non-2xx|Socket errors).*$/m.exec(text)?.[0]
  if (rate === undefined || requests === undefined || trouble !== undefined) {
    throw new Error(`${url}: ${trouble?.trim() ?? text}`)
  }
  return { rate: Number(rate), requests: Number(requests) }
}

async function scriptArgs(form: PostedForm): Promise<readonly string[]> {
  return ['-s', await writeWrkScript(form)]
}

/** Each run begins its numbers elsewhere, so that no two requests of a benchmark are the same. */
async function writeWrkScript({ folder, body }: PostedForm): Promise<string> {
  const path = join(folder, 'post.lua')
  await writeFile(
    path,
    `wrk.method = 'POST'
wrk.headers['Content-Type'] = '${FORM_TYPE}'
local before, after = ([==[${body}]==]):match('^(.*)%[<id>%](.*)$')
wrk.body = [==[${body}]==]
local count = ${Date.now()} * 1000
if before then
  request = function()
    count = count + 1
    return wrk.format(nil, nil, nil, string.format('%s%.0f%s', before, count, after))
  end
end
`,
  )
  return path
}

/** The part of autocannon's JSON that is read here. */
interface AutocannonResult {
  readonly requests: { readonly total: number }
  readonly duration: number
  readonly errors: number
  readonly timeouts: number
  readonly '4xx': number
  readonly '5xx': number
}

async function runAutocannon(url: string, amount: readonly string[]): Promise<LoadResult> {
  const program = join(PROJECT, 'node_modules/autocannon/autocannon.js')
  const text = await outputOf(process.execPath, [program, '-j', '-n', '-c', String(CONNECTIONS), ...amount, url])
  const { requests, duration, errors, timeouts, ...answers } = JSON.parse(text) as AutocannonResult
  const faulty = answers['4xx'] + answers['5xx']
  if (errors + timeouts + faulty > 0) {
    throw new Error(`${url}: ${errors} errors, ${timeouts} time-outs, ${faulty} answers of 4xx and 5xx`)
  }
  return { rate: requests.total / duration, requests: requests.total }
}

/**
 * Runs a generator in a process of its own; it inherits the load's core.
 * @param isQuiet whether anything on its stderr is a failure.
 * @throws {Error} with its stderr when it fails.
 */
export function outputOf(program: string, args: readonly string[], isQuiet = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: PROJECT, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 && !(isQuiet && errors !== '')
        ? resolve(output)
        : reject(new Error(`${program} ended with ${code}.\n${errors}`)),
    )
  })
}
