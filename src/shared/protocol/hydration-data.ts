/**
 * How loader data is sent inside a document, from the server's render to the browser's hydration. Version 3.
 *
 * The first part is one JSON object in a `<script type="application/json" id="millrace">`, a child of the body: the
 * route, and the values if JSON can represent them. Other values (promises, Date, Map, ...) follow as the chunks of one
 * value stream (`value-stream.ts`), each an argument of a `push` on the global list `__millrace`; `null` ends it. A document
 * that is kept for all visitors has no such scripts: its chunks are a member of the first part. HTML that visitors wrote may contain elements with either name, so the list counts only if it is an own property of the
 * window. The server escapes every chunk for HTML when it writes it.
 */
import type { RouteDataHead, SegmentMeta } from './route-data.ts'

/** Increased with every change of the format; a browser with another version does not hydrate the document. */
export const HYDRATION_DATA_VERSION = 3

/** Id of the script element with the first part. */
export const HYDRATION_DATA_ELEMENT_ID = 'millrace'

/**
 * Finds the first part, by the element's type and place as well: sanitized HTML has no scripts, but may have any id.
 */
export const HYDRATION_DATA_SELECTOR = 'body>script#millrace'

/** Name of the global list to which late chunks are pushed. */
export const HYDRATION_DATA_GLOBAL = '__millrace'

/** Attribute of elements with HTML whose text is not in the hydration data; its value is the mark there. */
export const HTML_MARK = 'data-html-value'

/** What the head of a document lacks because it is sent before everything is done. */
export interface LateFacts {
  /** As `HydrationState.meta`, of a page whose loader was not done. */
  readonly meta?: SegmentMeta
  /** As `HydrationState.sessions`; of all that are opened by then. */
  readonly sessions?: string | undefined
}

/** Values that hydration needs besides the table. */
export interface HydrationValues {
  /** Search params after the page's schema. */
  readonly search: unknown
  /** Loader results by segment id. */
  readonly data: Readonly<Record<string, unknown>>
  /** Set if the document is sent before its page's loader is done, or before it is known which sessions are opened. */
  readonly late?: Promise<LateFacts>
  /** State for `useActionState` after a form was posted: state, key, action's id, number of bound arguments. */
  readonly posted?: readonly [state: unknown, key: string, id: string, arity: number]
}

/** The first part of the hydration data. */
export interface HydrationState {
  readonly v: typeof HYDRATION_DATA_VERSION
  /** Build that wrote the document. */
  readonly build: string
  /** Key of the matched route, `null` if no route matched. */
  readonly route: string | null
  /** As in `RouteDataHead`. It comes before everything that visitors can have written. */
  readonly at?: number
  readonly params: Readonly<Record<string, string | readonly string[]>>
  readonly origin?: string
  /** The part of the URL on which this route depends; default: `path`. */
  readonly scope?: RouteDataHead['scope']
  /**
   * Keys of routes without loaders about whose URLs the server may decide something that the table does not say. Absent:
   * all routes.
   */
  readonly asks?: readonly string[]
  /** The page is a file: data is in files too, as `route-data.ts` says. */
  readonly files?: true
  /** Facts about the data for the route cache, by segment id; only for segments with non-default facts. */
  readonly meta?: Readonly<Record<string, SegmentMeta>>
  /** Set if a fallback replaces the page. */
  readonly outcome?: { readonly kind: string; readonly at: number; readonly digest?: string; readonly status?: number }
  /** The sessions for which the document was made, as `session-marks.ts` has them; absent if none was read. */
  readonly sessions?: string
  /** Milliseconds within which the server finishes this document; set for streamed documents only. */
  readonly deadline?: number
  /** React's options for hydration; set for streamed documents only. */
  readonly react?: { readonly identifierPrefix: string }
  /** The values, if JSON can represent them; otherwise they follow as chunks. */
  readonly values?: HydrationValues
  /** All chunks of the values, in a document without scripts for them. */
  readonly chunks?: readonly string[]
}

/** The part of a text stream that both sides use. */
export interface TextStream {
  getReader(): TextReader
}

/** Reads a `TextStream`. */
interface TextReader {
  read(): Promise<{ readonly done: boolean; readonly value?: string | undefined }>
  cancel(reason?: unknown): Promise<void>
}

/** Deeper values use the value stream, which needs no stack; JSON's own limit is far higher. */
const MAX_JSON_DEPTH = 100

/**
 * Whether `JSON.parse(JSON.stringify(value))` returns the same value. The depth limit refuses cyclic values. Attaches a
 * no-op catch to promises on the way, so that a getter's throwaway promise cannot become an unhandled rejection.
 * @param onFresh called with new results of getters that JSON cannot represent: they may contain promises.
 * @param isKnown whether to accept an instance of a class.
 */
export function isJsonValue(
  value: unknown,
  depth = 0,
  onFresh?: (made: unknown) => void,
  isKnown?: (instance: object) => boolean,
): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth > MAX_JSON_DEPTH) return false
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      if (!isJsonValue(value[index], depth + 1, onFresh, isKnown)) return false
    return true
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    if (value instanceof Promise) value.catch(() => undefined)
    return isKnown?.(value) === true
  }
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'string' || isJsonValue(member, depth + 1, onFresh, isKnown)) continue
    if (onFresh !== undefined && typeof member === 'object') {
      const again = (value as Record<string, unknown>)[key]
      if (again !== member) [member, again].forEach(onFresh)
    }
    return false
  }
  return true
}

/** Rejection in the browser of a deferred value that failed on the server. */
export interface RejectedValue {
  readonly digest: string
}
