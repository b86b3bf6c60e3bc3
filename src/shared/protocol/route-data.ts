/**
 * How the client router asks for the data of a page, and what it gets. Version 1.
 *
 * Request: `GET /_m/data<pathname><search>`, the page's own URL behind a prefix. The query may end in `_m=<segment id>`,
 * once a segment that is wanted; `_m=` alone wants none. Without any `_m` all segments of the route are wanted. A
 * segment id is `<key>#layout` or `<key>#page`, percent-encoded.
 *
 * Answer: a stream of lines, each one JSON object (`RouteDataRecord`). The first is the head; the last is `done`, so that
 * an answer that was cut off is known. Between them stands one record a wanted segment, in the order in which their
 * loaders finish, as far as loaders that guard allow. Values that JSON cannot say (promises, Date, Map, ...) follow
 * their segment as the chunks of a value stream (`value-stream.ts`) of their own; chunks of several segments may be
 * mixed.
 *
 * Values travel from the server to the browser only.
 */
import type { RefusalKind } from '../control-flow.ts'

/** Changed with every change of the format. */
export const ROUTE_DATA_VERSION = 1

/** Prefix of the URLs; the page's pathname follows. `/_m/data/` is the data of `/`. */
export const ROUTE_DATA_PREFIX = '/_m/data'

/** Name of the query's parameter that names wanted segments. Pages cannot have one of this name. */
export const SEGMENTS_PARAM = '_m'

/** Most segments one request may name: more than any chain has. */
export const MAX_SEGMENTS = 32

/** Media type of an answer; anything else did not come from a Millrace server. */
export const ROUTE_DATA_TYPE = 'application/vnd.millrace.route-data'

/** Names the build of a client in its requests and of the server in its answers. */
export const BUILD_HEADER = 'X-Millrace-Build'

/** Tells that a request may be refused first. Browsers keep `Sec-Purpose` for themselves, so scripts send this one. */
export const PURPOSE_HEADER = 'Purpose'

/** Fallback in the page's place; the shape of `Outcome` in `src/client/react/route-view.ts`. */
export interface RouteDataOutcome {
  readonly kind: 'error' | RefusalKind
  /** Index in the chain of the entry whose fallback is shown. */
  readonly at: number
  /** Names the failure; for `error` only. */
  readonly digest?: string
}

/** Where a redirect leads. */
export interface RouteDataRedirect {
  /** A path of this site, or an absolute URL where `external` is set. It has passed the server's guard. */
  readonly to: string
  readonly external?: true
}

/**
 * The first line of every answer. Exactly one of `route`, `redirect` and `document` is present; only where an action has
 * been called, `route` may stand beside `redirect` and means the page that it leads to; without `route`, nothing but the
 * action's own answer follows a `redirect`.
 */
export interface RouteDataHead {
  readonly v: typeof ROUTE_DATA_VERSION
  /** Build of the server. */
  readonly build: string
  /** Key of the route that answers the URL after rewriting; `null` where none does: an outcome `notFound` follows. */
  readonly route?: string | null
  /** With `route`: decoded params. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>
  /**
   * With `route`: what of the URL it depends on that this route answers. `path`: another query of the same path is
   * answered by the same route.
   */
  readonly scope?: 'path' | 'url'
  readonly redirect?: RouteDataRedirect
  /** No page answers this URL (another origin does, or a resource route, or the constant page): load it as a document. */
  readonly document?: true
}

/** What the client's cache must know of a segment's data. Absent members mean the default. */
export interface SegmentMeta {
  /** Search params that the data depends on; `true` for all of them. Default none. */
  readonly uses?: true | readonly string[]
  /** Seconds for which the data is fresh; `0` for data that is not to be kept. Default 60. */
  readonly lifetime?: number
  /** By which `revalidate` finds it. Default none. */
  readonly tags?: readonly string[]
}

/** One segment. Either `data` or `stream` is present; neither where the loader returned nothing. */
export interface SegmentRecord extends SegmentMeta {
  readonly segment: string
  readonly data?: unknown
  /** Search params after the page's schema; only for pages that have one. */
  readonly search?: unknown
  /** Number of the value stream whose root is `SegmentValues`; its chunks follow. Counted from 0. */
  readonly stream?: number
}

/** What is decoded from a segment's value stream. */
export interface SegmentValues {
  readonly data?: unknown
  readonly search?: unknown
}

/** One line of an answer. */
export type RouteDataRecord =
  | RouteDataHead
  | SegmentRecord
  | { readonly chunk: number; readonly text: string }
  /** The stream of that number is complete. */
  | { readonly end: number }
  /** A loader has refused or failed; no segment inside of the boundary follows. */
  | { readonly outcome: RouteDataOutcome }
  /** A loader has redirected after the first record. */
  | { readonly redirect: RouteDataRedirect; readonly v?: undefined }
  | { readonly done: true }
