/**
 * How loader data travels inside a document, from the server's render to the browser's hydration. Version 3.
 *
 * The first part is one JSON object in a `<script type="application/json" id="millrace">`, a child of the body: where we
 * are, and the values themselves when JSON can say them. Values that JSON cannot say (promises, Date, Map, ...) follow as the chunks of one
 * value stream (`value-stream.ts`), each an argument of a `push` on the global list `__millrace`; `null`
 * ends it. HTML that visitors wrote may hold elements with either name, so the list counts only where it is a property of the window's own. Escaping for HTML is done by the server where it writes the chunk, for every chunk alike.
 */
import type { RouteDataHead, SegmentMeta } from './route-data.ts'

/** Changed with every change of the format; a browser that reads another one leaves the document as it is. */
export const HYDRATION_DATA_VERSION = 3

/** Id of the script element with the first part. */
export const HYDRATION_DATA_ELEMENT_ID = 'millrace'

/**
 * Finds the first part: by the element's type and place too, since sanitized HTML has no scripts, but may have any id.
 */
export const HYDRATION_DATA_SELECTOR = 'body>script#millrace'

/** Name of the global list that late chunks are pushed to. */
export const HYDRATION_DATA_GLOBAL = '__millrace'

/** What hydration needs beyond the table. */
export interface HydrationValues {
  /** Search params after the page's schema. */
  readonly search: unknown
  /** Loader results by segment id. */
  readonly data: Readonly<Record<string, unknown>>
  /** What `useActionState` takes over after a form was sent: state, key, action's id, number of bound arguments. */
  readonly posted?: readonly [state: unknown, key: string, id: string, arity: number]
}

/** The first part of the hydration data. */
export interface HydrationState {
  readonly v: typeof HYDRATION_DATA_VERSION
  /** Build that wrote the document. */
  readonly build: string
  /** Key of the matched route, `null` where no route matched. */
  readonly route: string | null
  readonly params: Readonly<Record<string, string | readonly string[]>>
  readonly origin?: string
  /** What of the URL it depends on that this route answers; `path` where absent. */
  readonly scope?: RouteDataHead['scope']
  /** What the route cache must know of the data, by segment id; only of segments where that is not all as by default. */
  readonly meta?: Readonly<Record<string, SegmentMeta>>
  /** Set when a fallback stands in the page's place. */
  readonly outcome?: { readonly kind: string; readonly at: number; readonly digest?: string; readonly status?: number }
  /** Milliseconds in which the server has written all of this document; only of those that are streamed. */
  readonly deadline?: number
  /** What React must know to hydrate; only of documents that are streamed. */
  readonly react?: { readonly identifierPrefix: string }
  /** The values, when JSON can say them; otherwise they follow as chunks. */
  readonly values?: HydrationValues
}

/** A stream of text, as far as both sides use it. */
export interface TextStream {
  getReader(): TextReader
}

/** Reads a `TextStream`. */
export interface TextReader {
  read(): Promise<{ readonly done: boolean; readonly value?: string | undefined }>
  cancel(reason?: unknown): Promise<void>
}

/** Nesting beyond this goes through the value stream, which needs no stack; JSON's own limit is far higher. */
const MAX_JSON_DEPTH = 100

/**
 * Whether `JSON.parse(JSON.stringify(value))` gives the same value back. Cyclic values are refused by depth. A promise that
 * is met counts as heard: of one that a getter has made for this look alone, nobody else would hear that it fails.
 * @param onFresh told of what a getter has made for this look where JSON cannot say it: promises may be inside.
 */
export function isJsonValue(value: unknown, depth = 0, onFresh?: (made: unknown) => void): boolean {
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
      if (!isJsonValue(value[index], depth + 1, onFresh)) return false
    return true
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    if (value instanceof Promise) value.catch(() => undefined)
    return false
  }
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'string' || isJsonValue(member, depth + 1, onFresh)) continue
    if (onFresh !== undefined && typeof member === 'object') {
      const again = (value as Record<string, unknown>)[key]
      if (again !== member) [member, again].forEach(onFresh)
    }
    return false
  }
  return true
}

/** What a deferred value that failed on the server rejects with in the browser. */
export interface RejectedValue {
  readonly digest: string
}

/** Whether a rejection came from the server. */
export function isRejectedValue(reason: unknown): reason is RejectedValue {
  return typeof reason === 'object' && reason !== null && 'digest' in reason && typeof reason.digest === 'string'
}
