import type { BrowserContext } from 'playwright-core'

/** What pages of one context complained about, in order; each is one line that begins with its kind. */
export type Complaints = string[]

/** Console messages that mean a fault. Warnings count: React and Chromium announce tomorrow's errors there. */
const CONSOLE_FAULTS: ReadonlySet<string> = new Set(['error', 'warning', 'assert'])

/** A request that its own page gave up (a prefetch, a navigation that was overtaken) is not a failure. */
const CANCELLED = 'net::ERR_ABORTED'

/** How Chromium refuses a script: for a policy of the page, and also for JavaScript that is switched off. */
const BLOCKED = 'csp'

/**
 * Collects from now on what goes wrong in any page of a context: console errors and warnings, uncaught errors and
 * rejections, failed requests, and requests that leave the loopback interface.
 * @param javaScript whether the context runs scripts; where it does not, scripts that are not loaded are no fault.
 */
export function recordComplaints(context: BrowserContext, javaScript = true): Complaints {
  const complaints: Complaints = []
  context.on('console', (message) => {
    if (!CONSOLE_FAULTS.has(message.type())) return
    complaints.push(`console.${message.type()}: ${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (failure) => {
    const { stack, message } = failure.error()
    complaints.push(`uncaught: ${stack || message}`) // what an import rejects with has an empty stack
  })
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? 'no reason given'
    const switchedOff = !javaScript && request.resourceType() === 'script' && reason === BLOCKED
    if (reason !== CANCELLED && !switchedOff)
      complaints.push(`request failed: ${request.method()} ${request.url()} (${reason})`)
  })
  context.on('request', (request) => {
    if (!staysHere(request.url())) complaints.push(`left the machine: ${request.method()} ${request.url()}`)
  })
  return complaints
}

/** Whether a URL needs no network: loopback, or nothing that is fetched at all. */
export function staysHere(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  if (!['http:', 'https:', 'ws:', 'wss:'].includes(protocol)) return true
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) || hostname.endsWith('.localhost')
}

/**
 * Leaves out what a test said it expects.
 * @param allow each is tried on the whole line, kind included.
 */
export function unexpectedComplaints(complaints: Complaints, allow: readonly RegExp[]): string[] {
  return complaints.filter((line) => !allow.some((pattern) => pattern.test(line)))
}

/** What Chromium logs for a document or file that was answered with this status: expected wherever a test asks for one. */
export function statusComplaint(status: number): RegExp {
  return new RegExp(`^console\\.error: Failed to load resource: the server responded with a status of ${status} `)
}
