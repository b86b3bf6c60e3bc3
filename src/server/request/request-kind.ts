import type { IncomingMessage } from 'node:http'
import { PURPOSE_HEADER } from '../../shared/protocol/route-data.ts'

/**
 * What a request is, for metrics. `other` is what the runtime answers itself: refused and redirected URLs, rules,
 * external rewrites.
 */
export type RequestKind =
  'document' | 'data' | 'prefetch' | 'action' | 'resource' | 'asset' | 'health' | 'relay' | 'other'

/** For a guess at what somebody may want next. */
export type RequestPurpose = 'prefetch'

/** Browsers say `Sec-Purpose: prefetch;...`, and keep that header from scripts, which say `Purpose: prefetch`. */
export function purposeOf({ headers }: Pick<IncomingMessage, 'headers'>): RequestPurpose | undefined {
  return isPrefetch(headers['sec-purpose']) || isPrefetch(headers[PURPOSE]) ? 'prefetch' : undefined
}

export const PURPOSE = PURPOSE_HEADER.toLowerCase()

export function isPrefetch(value: string | readonly string[] | undefined): boolean {
  return typeof value === 'string' && value.startsWith('prefetch')
}

/**
 * Why a page is refused. `places`: as many answers are in progress as may be. `client`: too many of them are this
 * client's. `load`: this process is late. `wait`: its turn to be rendered did not come in time.
 */
export type ShedReason = 'places' | 'client' | 'load' | 'wait'

/** What a request for route data asks for; the URL of the page is that of the context. */
export interface DataRequest {
  /** Build of this server. */
  readonly build: string
  /** Ids of the segments that are wanted; all of the page's where absent. */
  readonly segments?: readonly string[]
  /** The page that asks is of another build: data of this one does not fit its components. Only calls get that far. */
  readonly isOtherBuild?: boolean
}

/** Times of one answer, in milliseconds. */
export interface HeadTiming {
  /** The longest of its loaders; they run side by side. */
  readonly loadersMs: number
  /** From the request to the head. */
  readonly headMs: number
}

/** Which action a request calls. */
export interface ActionTarget {
  readonly id: string
  /** Number of the form in its document; `''` for a call by script. */
  readonly form: string
}
