/** What the browser and the document tell about a page, beside the client router's own knowledge. */

/** A loader, or a phase of the answer, on the server. Source: `Server-Timing`. */
interface ServerTime {
  /** A segment's id for a loader; otherwise the phase: `shell`, `head`, `discarded`. */
  readonly name: string
  readonly durationMs: number
}

/** A request as the browser has measured it. Times in milliseconds since the epoch. */
export interface ObservedRequest {
  /** Path and query; the whole URL for another origin. */
  readonly url: string
  readonly kind: 'document' | 'data' | 'action' | 'script' | 'style' | 'image' | 'other'
  /** For `data` and `action`: path and query of the page. */
  readonly page?: string
  /** For `action`: its id. */
  readonly action?: string
  readonly startedAt: number
  /** Milliseconds until the first byte of the answer; absent if the browser does not tell. */
  readonly waitingMs?: number
  readonly durationMs: number
  /** 0 if the browser does not tell, or without an answer. */
  readonly status: number
  /** Bytes sent, headers included; 0 for the browser's own copy. */
  readonly bytes: number
  readonly server: readonly ServerTime[]
  /** Of a page with `cache: 'shared'`: `hit`, `stale`, `miss`, or `bypass: ` and why. */
  readonly cache?: string
}

/** A call of an action. Times in milliseconds since the epoch. */
export interface ObservedCall {
  readonly id: string
  readonly startedAt: number
  endedAt?: number
  /** Set if it was rejected. */
  failed?: string
}

/** A request for data that has failed on the server, after its answer had begun. Known in development alone. */
export interface FailedAnswer {
  /** Path and query of the page. */
  readonly page: string
  /** Of the failure; the status of the answer differs. */
  readonly status: number
  /** When the server has told, in milliseconds since the epoch. */
  readonly at: number
}

/** An entry that has left the route cache. */
export interface DroppedEntry {
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** `dropped` by a revalidation, an action or another visitor's session. */
  readonly why: 'dropped' | 'expired' | 'evicted'
}

/** The document, as it was sent. */
export interface DocumentFacts {
  /** Whether React streamed it; otherwise it was rendered at once. */
  readonly streamed: boolean
  /** Bytes of the HTML before compression; 0 if the browser does not tell. */
  readonly bytes: number
  /** Pieces of HTML that arrived after the shell. */
  readonly lateParts: number
  /** Scripts with values that arrived after the hydration data. */
  readonly lateValues: number
  /** Characters of the hydration data, late values included. */
  readonly hydrationSize: number
  /** Characters by segment id; empty if the values streamed in. */
  readonly segments: readonly (readonly [id: string, size: number])[]
}

/** A snapshot. All lists begin with the oldest, and are bounded. */
export interface PageFacts {
  /** Time of the snapshot, in milliseconds since the epoch. */
  readonly now: number
  /** Start of the document, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly document: ObservedRequest | undefined
  readonly failures: readonly FailedAnswer[]
  readonly requests: readonly ObservedRequest[]
  readonly calls: readonly ObservedCall[]
  readonly dropped: readonly DroppedEntry[]
  /** Messages of hydration errors after which React rendered again in the browser. */
  readonly recovered: readonly string[]
  /** Source and name of actions by id; development only. */
  readonly actionNames: Readonly<Record<string, string>>
  readonly content: DocumentFacts | undefined
}

/** The path of route data. Source: `ROUTE_DATA_PREFIX`, which the router's file would otherwise have to share. */
export const DATA_PATH = '/_m/data'

/** Names of the runtime's own members of a query. Source: `SEGMENTS_PARAM`, `ACTION_PARAM`. */
export const OWN_PARAMS: readonly string[] = ['_m', '_action']

const KINDS: Readonly<Record<string, ObservedRequest['kind']>> = {
  navigation: 'document',
  script: 'script',
  css: 'style',
  link: 'other',
  img: 'image',
}

/**
 * Reads the browser's measurement of one request.
 * @param timeOrigin of the page: milliseconds since the epoch.
 */
export function readTiming(entry: PerformanceResourceTiming, timeOrigin: number, origin: string): ObservedRequest {
  const { name, initiatorType, startTime, responseStart, duration, transferSize, serverTiming } = entry
  const { pathname, search, href, origin: from } = new URL(name, origin)
  const at = from === origin ? pathname.indexOf(`${DATA_PATH}/`) : -1
  const own = search.slice(1).split('&')
  const isOwn = (part: string): boolean => OWN_PARAMS.includes(part.split('=', 1)[0] ?? '')
  const page = pathname.slice(at + DATA_PATH.length) + queryOf(own.filter((part) => part !== '' && !isOwn(part)))
  const cache = serverTiming.find(({ name: metric }) => metric === 'cache')?.description
  const action = own.find((part) => part.startsWith('_action='))?.slice('_action='.length)
  return {
    url: from === origin ? pathname + search : href,
    kind: at < 0 ? kindOf(initiatorType, pathname) : action === undefined ? 'data' : 'action',
    ...(at >= 0 && { page, ...(action !== undefined && { action }) }),
    startedAt: timeOrigin + startTime,
    ...(responseStart > 0 && { waitingMs: responseStart - startTime }),
    durationMs: duration,
    // Not in all browsers.
    status: (entry as { responseStatus?: number }).responseStatus ?? 0,
    bytes: transferSize,
    ...(cache && { cache }),
    server: serverTiming.flatMap(({ name: metric, description, duration: durationMs }) =>
      // Traces and the like have no duration.
      durationMs > 0 ? { name: description || metric, durationMs } : [],
    ),
  }
}

function kindOf(initiator: string, path: string): ObservedRequest['kind'] {
  // A preloaded file has the initiator `link`, and a module that another one imports may have `other`.
  if (/\.m?js$/.test(path)) return 'script'
  if (path.endsWith('.css')) return 'style'
  return KINDS[initiator] ?? 'other'
}

function queryOf(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** The hydration data and the late parts of a document, as far as they have arrived. */
export function readDocument(document: Document, bytes: number): DocumentFacts | undefined {
  const element = document.querySelector('body>script#millrace')
  const json = element?.textContent ?? ''
  if (json === '') return undefined
  const { values, react } = JSON.parse(json) as {
    readonly react?: object
    readonly values?: { readonly data?: Readonly<Record<string, unknown>> }
  }
  const scripts = [...document.querySelectorAll('script:not([src], [type="application/json"])')]
  const late = scripts.flatMap(({ textContent }) => (/\b__millrace\b/.test(textContent) ? textContent.length : []))
  return {
    streamed: react !== undefined,
    bytes,
    // React's instruction that puts the content of a boundary into its place.
    lateParts: scripts.filter(({ textContent }) => /\$R[CRX]\(/.test(textContent)).length,
    lateValues: late.length,
    hydrationSize: late.reduce((sum, size) => sum + size, json.length),
    segments: Object.entries(values?.data ?? {}).map(([id, data]) => [id, JSON.stringify(data).length] as const),
  }
}
