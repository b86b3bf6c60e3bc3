import type { IncomingMessage } from 'node:http'
import { PURPOSE_HEADER } from '../../shared/protocol/route-data.ts'

/**
 * Kind of a request, for metrics. `other`: answers of the runtime itself, such as refused and redirected URLs, rules,
 * external rewrites.
 */
export type RequestKind =
  'document' | 'data' | 'prefetch' | 'action' | 'resource' | 'asset' | 'health' | 'relay' | 'other'

/** What tells the kind of a request, besides what has answered it. */
export interface KindFacts {
  readonly data: DataRequest | undefined
  readonly action: ActionTarget | undefined
  readonly prefetch: boolean
}

/** @param answered by what it was answered. */
export function kindOf(answered: RequestKind, { data, action, prefetch }: KindFacts): RequestKind {
  if (action !== undefined) return 'action'
  if (data === undefined && answered !== 'document') return answered
  if (prefetch) return 'prefetch'
  return data === undefined ? 'document' : 'data'
}

/** Set for requests on speculation. */
type RequestPurpose = 'prefetch'

/** Browsers send `Sec-Purpose: prefetch;...`, which scripts cannot set; our scripts send `Purpose: prefetch`. */
export function purposeOf({ headers }: Pick<IncomingMessage, 'headers'>): RequestPurpose | undefined {
  return isPrefetch(headers['sec-purpose']) || isPrefetch(headers[PURPOSE]) ? 'prefetch' : undefined
}

const PURPOSE = PURPOSE_HEADER.toLowerCase()

function isPrefetch(value: string | readonly string[] | undefined): boolean {
  return typeof value === 'string' && value.startsWith('prefetch')
}

/**
 * Why a page is refused. `places`: the maximum of answers is in progress. `client`: too many of them are this client's.
 * `load`: this process is late. `wait`: the page's turn to render did not come in time.
 */
export type ShedReason = 'places' | 'client' | 'load' | 'wait'

/** A request for route data; the context has the page's URL. */
export interface DataRequest {
  /** Build of this server. */
  readonly build: string
  /** Ids of the requested segments; absent for all segments of the page. */
  readonly segments?: readonly string[]
  /** The requesting page is of another build, whose components do not fit this build's data. Set for calls only. */
  readonly isOtherBuild?: boolean
  /** The path is one that the runtime itself answers: no page can have it. */
  readonly isRuntimePath?: boolean
  /** Status of the refusal or failure that has ended the answer after its own was sent, for the log of development. */
  lateStatus?: number
}

/** Durations of one answer, in milliseconds. */
export interface HeadTiming {
  /** The slowest of its loaders; they run in parallel. */
  readonly loadersMs: number
  /** From the request to the head. */
  readonly headMs: number
}

/** The action that a request calls. */
export interface ActionTarget {
  readonly id: string
  /** Number of the form in its document; `''` for a call by script. */
  readonly form: string
}
