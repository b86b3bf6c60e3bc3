import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LogEntry } from './test-log.ts'
import { createVisitor, type Site } from './visitor.ts'

/** A page that says `cache: 'shared'` is not kept. */
export class NotKeptError extends Error {
  override readonly name = 'NotKeptError'
  /** Value of `Cache-Status` of the second visit; `undefined` without one. */
  readonly cacheStatus: string | undefined

  constructor(path: string, cacheStatus: string | undefined, fault: string) {
    super(`${path} is not kept: ${fault}`)
    this.cacheStatus = cacheStatus
  }
}

/**
 * Visits a page twice, each time as a stranger, and expects that the second visit gets the document that the first has
 * made.
 * @param site an application that `createTestApp` or `startBuild` has made, or an origin.
 * @param path of a page with `cache: 'shared'`.
 * @throws {NotKeptError} with what keeps the page from being kept, where, and the way out.
 */
export async function expectKept(site: Site, path: string): Promise<void> {
  const visit = async (): Promise<Response> => {
    const answer = await createVisitor(site).fetch(path)
    await answer.body?.cancel()
    return answer
  }
  await visit()
  const { headers, status } = await visit()
  const cacheStatus = headers.get('cache-status') ?? undefined
  if (status === 200 && cacheStatus?.startsWith('Millrace; hit') === true) return
  throw new NotKeptError(path, cacheStatus, faultOf(status, cacheStatus, logsOf(site)))
}

/** A test application, which is a function, has its log. */
function logsOf(site: Site): readonly LogEntry[] {
  const { logs } = Object(site) as { readonly logs?: readonly LogEntry[] }
  return Array.isArray(logs) ? logs : []
}

function faultOf(status: number, cacheStatus: string | undefined, logs: readonly LogEntry[]): string {
  if (status !== 200) {
    const thrown = status < 500 ? undefined : logs.findLast(({ err }) => err !== undefined)?.['err']
    const message = (thrown as { message?: unknown } | undefined)?.message
    const failure = message === undefined ? '' : ` (${String(message)})`
    return `it was answered with ${status}${failure}, and only pages with status 200 are kept. Test a path that has its page.`
  }
  if (cacheStatus === undefined) {
    return "its entry in the route table does not say cache: 'shared'. Add that, or test another path."
  }
  const [, quoted] = /detail="((?:[^"\\]|\\.)*)"/.exec(cacheStatus) ?? []
  if (quoted === undefined) return `Cache-Status says ${cacheStatus}.`
  const reason = quoted.replace(/\\(.)/g, '$1')
  const entry = logs.findLast((line) => line['kept'] === false && line['reason'] === reason)
  const place = placeOf(entry?.['stack'])
  return `${causeOf(reason)}${place === undefined ? '' : ` (${place})`}. ${wayOut(reason)}`
}

/** Reasons that are no value of a visitor. The others name what was read or set. */
const OTHER_CAUSES: Readonly<Record<string, string>> = {
  failed: 'a loader or a component has failed, or a deferred value was rejected',
  'too large': 'its document is larger than the cache takes',
  'drops unheard': 'Redis cannot be reached, so that nobody would drop it',
  policy: 'a Content-Security-Policy that was set in front forbids its scripts',
  suspends: 'a component outside of the slots suspends',
  script: 'it has an inline script outside of the slots',
}

function causeOf(reason: string): string {
  if (reason.startsWith('variant') || reason.startsWith('more than')) return reason
  return OTHER_CAUSES[reason] ?? `what is made for all visitors reads or sets something of one: ${reason}`
}

function wayOut(reason: string): string {
  if (reason === 'failed') return 'The log names the failure.'
  if (reason === 'set-cookie') return 'Set cookies in an action, a handler or a middleware.'
  if (reason === 'too large' || reason === 'drops unheard' || reason === 'policy') return 'See the chapter Caching.'
  if (reason.startsWith('variant') || reason.startsWith('more than')) return 'A variant is one of a few fixed texts.'
  return "Move that into a function visitor beside the loader, choose between a few pages with variants, or remove cache: 'shared'."
}

const FRAME = /\(?(file:\/\/[^\s()]+|\/[^\s()]+):(\d+):\d+\)?$/
const RUNTIME = join(import.meta.dirname, '..')

/** The first call of the application in a stack, from the working folder. */
function placeOf(stack: unknown): string | undefined {
  if (typeof stack !== 'string') return undefined
  for (const line of stack.split('\n')) {
    const [, named, number] = FRAME.exec(line) ?? []
    if (named === undefined) continue
    const file = named.startsWith('file:') ? fileURLToPath(named) : named
    if (!file.startsWith(RUNTIME) && !file.includes('/node_modules/'))
      return `${relative(process.cwd(), file)}:${number}`
  }
  return undefined
}
