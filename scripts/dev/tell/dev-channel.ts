import type { ServerResponse } from 'node:http'
import type { DevFailure, DevMessage, DevWarning } from '../../../src/client/dev/dev-messages.ts'

/** The event streams of all open pages, and the state that a newly opened page needs. */
export interface DevChannel {
  /**
   * Keeps this response open and sends events to it until its client disconnects.
   * @param page paths by which the log may call the page: with and without the base path. Empty if the browser does not
   * tell which page it is.
   */
  join(response: ServerResponse, page?: readonly string[]): void
  send(message: DevMessage): void
  /** Sends an update of a build that is not over, also to pages that open before it is. */
  sendEarly(message: DevMessage): void
  /** The build has failed: tells all pages, including those that open later, until it succeeds again. */
  buildFailed(failures: readonly DevFailure[]): void
  /** The build has succeeded again. */
  built(): void
  /** A request has failed. A page of its path that opens soon after also gets the message: it may be the answer. */
  requestFailed(failure: DevFailure): void
  /** A request deserves a warning. Pages that open soon after also get it. */
  requestWarned(warning: DevWarning): void
  /** Replaces the warnings of the build, for pages that open later too. */
  warn(warnings: readonly DevWarning[]): void
  /** Failures of the current build. */
  readonly failures: readonly DevFailure[]
  /** The number of successful builds and the session: documents tell it, so that their pages notice what they have missed. */
  readonly build: string
  close(): void
}

type RequestMessage = Extract<DevMessage, { readonly type: 'failure' | 'warning' }>

const RECENT_MS = 3_000 // from a failed render until its page has loaded its scripts
const MOST_RECENT = 20 // a page shows one

/**
 * @param session identifies this run of the development server.
 * @param now monotonic milliseconds.
 * @param versions of what runs, for copied failures.
 */
export function createDevChannel(session: string, now: () => number, versions = ''): DevChannel {
  const pages = new Set<ServerResponse>()
  const failures: DevFailure[] = []
  const state: { builds: number; warnings: readonly DevWarning[] } = { builds: 0, warnings: [] }
  const early: DevMessage[] = []
  const recent: { readonly message: RequestMessage; readonly at: number }[] = []

  function write(response: ServerResponse, message: DevMessage): void {
    response.write(`data: ${JSON.stringify(message)}\n\n`)
  }

  function send(message: DevMessage): void {
    for (const page of pages) write(page, message)
  }

  function tell(message: RequestMessage): void {
    recent.push({ message, at: now() })
    if (recent.length > MOST_RECENT) recent.shift()
    send(message)
  }

  return {
    send,
    sendEarly(message) {
      early.push(message)
      send(message)
    },
    failures,
    get build() {
      return `${state.builds} ${session}`
    },
    join(response, page = []) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
      write(response, { type: 'hello', session, build: state.builds })
      if (versions !== '') write(response, { type: 'versions', versions })
      if (state.warnings.length > 0) write(response, { type: 'warnings', warnings: state.warnings })
      for (const message of early) write(response, message)
      const late = recent.filter(({ at }) => now() - at < RECENT_MS)
      recent.splice(0, recent.length, ...late)
      for (const message of failures.map(ofBuild)) write(response, message)
      for (const { message } of late) if (mayConcern(message, page)) write(response, message)
      pages.add(response)
      response.once('close', () => pages.delete(response))
    },
    buildFailed(found) {
      failures.splice(0, failures.length, ...found)
      for (const message of found.map(ofBuild)) send(message)
    },
    built() {
      failures.length = 0
      early.length = 0
      recent.length = 0
      state.builds += 1
      send({ type: 'built', build: state.builds })
    },
    requestFailed(failure) {
      const known = recent.findIndex(
        ({ message }) => message.type === 'failure' && isSameNews(message.failure, failure),
      )
      if (known >= 0) recent.splice(known, 1)
      tell({ type: 'failure', failure })
    },
    requestWarned: (warning) => tell({ type: 'warning', warning }),
    warn(warnings) {
      if (JSON.stringify(warnings) === JSON.stringify(state.warnings)) return
      state.warnings = warnings
      send({ type: 'warnings', warnings })
    },
    close() {
      for (const page of pages) page.end()
    },
  }
}

/** Whether a failure is sent again with the status of its request. */
function isSameNews({ request, digest }: DevFailure, latest: DevFailure): boolean {
  return request !== undefined && request.id === latest.request?.id && digest === latest.digest
}

/** A developer who has gone on from a page that failed sees the next page, not the failure again. */
function mayConcern(message: RequestMessage, page: readonly string[]): boolean {
  if (message.type === 'warning' || message.failure.request === undefined || page.length === 0) return true
  return page.includes(message.failure.request.url.split('?', 1)[0] ?? '')
}

function ofBuild(failure: DevFailure, index: number): DevMessage {
  return { type: 'failure', failure, ...(index === 0 ? { isFirst: true } : {}) }
}
