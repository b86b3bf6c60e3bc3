/**
 * How the client router requests the data of a page, and the answer. Version 1.
 *
 * Request: `GET /_m/data<pathname><search>`, the page's own URL after a prefix. The query may end in `_m=<segment id>`,
 * once for each requested segment; `_m=` alone requests none. Without any `_m` all segments of the route are requested. A
 * segment id is `<key>#layout` or `<key>#page`, percent-encoded.
 *
 * Answer: a stream of lines, each one JSON object (`RouteDataRecord`). The first is the head; the last is `done`, which
 * reveals truncated answers. Between them is one record for each requested segment, in the order in which their
 * loaders finish, but after the loaders that guard it. Values that JSON cannot represent (promises, Date, Map, ...) follow
 * their segment as the chunks of a value stream (`value-stream.ts`); chunks of several segments may be
 * interleaved. A session that is opened after the head was sent follows in a record of its own.
 *
 * Pages that are files (`millrace export`) ask for `/_m/data<pathname>/all.data`, without a query: the same answer with all
 * segments, by a server that knows no media type and sends no build. Its build is that of the head.
 *
 * Values travel from the server to the browser only.
 */
import type { RefusalKind } from '../control-flow.ts'

/** Increased with every change of the format. */
export const ROUTE_DATA_VERSION = 1

/** Prefix of the URLs; the page's pathname follows. `/_m/data/` is the data of `/`. */
export const ROUTE_DATA_PREFIX = '/_m/data'

/** Last part of the path of a page's data where pages are files. */
export const ROUTE_DATA_FILE = '/all.data'

/** Query parameter that names requested segments. Pages cannot use this name. */
export const SEGMENTS_PARAM = '_m'

/** Maximum number of segments in one request: more than any chain has. */
export const MAX_SEGMENTS = 32

/** Media type of an answer; no other type is from a Millrace server. */
export const ROUTE_DATA_TYPE = 'application/vnd.millrace.route-data'

/** Header with the build of a client in its requests, and of the server in its answers. */
export const BUILD_HEADER = 'X-Millrace-Build'

/** Marks requests that may be refused first. Scripts cannot set `Sec-Purpose`, so they send this header. */
export const PURPOSE_HEADER = 'Purpose'

/** Fallback that replaces the page; same shape as `Outcome` in `src/client/react/route-view.ts`. */
export interface RouteDataOutcome {
  readonly kind: 'error' | RefusalKind
  /** Index in the chain of the entry whose fallback is shown. */
  readonly at: number
  /** Identifies the failure; for `error` only. */
  readonly digest?: string
}

/** Target of a redirect. */
export interface RouteDataRedirect {
  /** A path of this site, or an absolute URL if `external` is set. The server's guard has checked it. */
  readonly to: string
  readonly external?: true
}

/**
 * The first line of every answer. Exactly one of `route`, `redirect` and `document` is present, with one exception:
 * after a call of an action, `route` may accompany `redirect` and means the redirect's target; without `route`, only
 * the action's own answer follows a `redirect`.
 */
export interface RouteDataHead {
  readonly v: typeof ROUTE_DATA_VERSION
  /** Build of the server. */
  readonly build: string
  /** The sessions for which the answer is made, as `session-marks.ts` has them; absent if none was read. */
  readonly sessions?: string
  /**
   * The request has ended the session of a user, or given it to another one: the browser loads the page, or that of the
   * redirect, as a document.
   */
  readonly left?: true
  /** The call was not made: another user is signed in than on the page that has called. */
  readonly others?: true
  /** With `route`: the last drop that the data contains, as in `drops-event.ts`; absent in applications without handlers. */
  readonly at?: number | undefined
  /** Key of the route that answers the URL after rewriting; `null` if none does: an outcome `notFound` follows. */
  readonly route?: string | null
  /** With `route`: decoded params. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>
  /**
   * With `route`: the part of the URL on which this route depends. `path`: the same route answers other queries of the
   * same path.
   */
  readonly scope?: 'path' | 'url'
  readonly redirect?: RouteDataRedirect
  /**
   * No page answers this URL (another origin does, or a resource route, or the constant page): load it as a document.
   */
  readonly document?: true
}

/** Facts about a segment's data for the client's cache. Absent members have their defaults. */
export interface SegmentMeta {
  /** Search params on which the data depends; `true` for all of them. Default: none. */
  readonly uses?: true | readonly string[]
  /** Seconds for which the data is fresh; `0` for data that must not be cached. Default: 60. */
  readonly lifetime?: number
  /** Tags for `revalidate`. Default: none. */
  readonly tags?: readonly string[]
}

/** One segment. Has `data` or `stream`; neither if the loader returned nothing. */
export interface SegmentRecord extends SegmentMeta {
  readonly segment: string
  readonly data?: unknown
  /** Search params after the page's schema; only for pages that have one. */
  readonly search?: unknown
  /** Number of the value stream, from 0, whose root is `SegmentValues`; its chunks follow. */
  readonly stream?: number
}

/** Decoded content of a segment's value stream. */
export interface SegmentValues {
  readonly data?: unknown
  readonly search?: unknown
}

/** One line of an answer. */
export type RouteDataRecord =
  | RouteDataHead
  | SegmentRecord
  | { readonly chunk: number; readonly text: string }
  /** A text of HTML, before the frame that names its mark: its number in the stream. */
  | { readonly chunk: number; readonly mark: number; readonly html: string }
  /** The stream with that number is complete. Its segment must not be cached if it depends on more than its record says. */
  | { readonly end: number; readonly lifetime?: 0 }
  /** A loader has refused or failed; no segment inside the boundary follows. */
  | { readonly outcome: RouteDataOutcome }
  /** As in the head, in place of what that has said. */
  | { readonly sessions: string; readonly v?: undefined }
  /** A loader has redirected after the first record. */
  | { readonly redirect: RouteDataRedirect; readonly v?: undefined }
  | { readonly done: true }
