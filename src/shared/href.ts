import type { Href } from './link-target.ts'
import type { LinkPattern } from './registered-table.ts'
import type { Params } from './route-pattern.ts'
import { parsePattern } from './route-pattern.ts'
import { encodeSegment } from './route-segment.ts'

/** One value in the search part; numbers and booleans are formatted by `String`. */
type SearchValue = string | number | boolean

/** The search part of a URL: a list repeats its key, `undefined` omits the key. */
export type HrefSearch = Readonly<Record<string, SearchValue | readonly SearchValue[] | undefined>>

/** Options of `href`. */
interface HrefOptions {
  /** What the page's schema gives for absent search params: those with these values are left out of the URL. */
  readonly defaults?: HrefSearch | undefined
}

type HrefRest = [search?: HrefSearch | undefined, options?: HrefOptions | undefined]

/** Arguments of `href` after the pattern: params, required where the pattern needs any, the search part, options. */
// By the pattern's text and not by its params: for the type of an argument, the compiler would go through those of every
// pattern of the table.
type HrefArgs<Pattern extends string> = string extends Pattern
  ? [params?: Params<string> | undefined, ...HrefRest]
  : [Pattern] extends [`${string}[${string}`]
    ? [Pattern] extends [`${infer Start}/[[...${string}`]
      ? [Start] extends [`${string}[${string}`]
        ? [params: Params<Pattern>, ...HrefRest]
        : [params?: Params<Pattern> | undefined, ...HrefRest]
      : [params: Params<Pattern>, ...HrefRest]
    : [params?: Readonly<Record<string, never>> | undefined, ...HrefRest]

/** What `href` writes in place of a text that no path can contain: U+FFFD, encoded. */
export const NO_SEGMENT = '%EF%BF%BD'

const FAULTS = {
  missing: 'is missing',
  'not-text': 'is not text; convert it first',
} as const

/** Why a URL cannot be built. */
export type HrefFault = keyof typeof FAULTS

/** Thrown by `href` for a param that is none. */
export class HrefError extends Error {
  override readonly name = 'HrefError'
  /** The fault of the value. */
  readonly kind: HrefFault
  /** The pattern as given to `href`. */
  readonly pattern: string
  /** The param. */
  readonly param: string

  constructor(kind: HrefFault, pattern: string, param: string) {
    super(`No URL for ${pattern}: "${param}" ${FAULTS[kind]}.`)
    this.kind = kind
    this.pattern = pattern
    this.param = param
  }
}

/**
 * Builds the URL of a page: `href('/lab/params/[id]', { id: 'a/b' }, { tab: 'log' })` is `/lab/params/a%2Fb?tab=log`.
 * Every value is encoded so that matching the URL returns the params; an empty list counts as absent. Where a path cannot
 * contain a text (an empty one, `.`, `..`), and for halves of characters, the URL has U+FFFD: the page is not found, and a
 * visitor who chose such a name takes no list from others.
 * @param pattern as in the route table; groups are left out.
 * @param args the params, the search part, and `{ defaults }`: search params with these values are left out. Params that the
 * pattern does not have are ignored.
 * @returns a path of this site, always ASCII, never beginning with two slashes.
 * @throws {HrefError} for a param that is missing or not text.
 * @example
 * ```ts
 * import { href } from 'millrace'
 *
 * const url = href('/mills/[id]', { id: 'a/b' }, { tab: 'log' }) // /mills/a%2Fb?tab=log
 * ```
 */
export function href<Pattern extends LinkPattern>(pattern: Pattern, ...args: HrefArgs<NoInfer<Pattern>>): Href
// A signature of its own: in here the compiler would go through the params of every pattern.
export function href(
  pattern: string,
  params: Params<string> = {},
  search?: HrefSearch,
  { defaults }: HrefOptions = {},
): Href {
  let path = ''
  for (const segment of parsePattern(pattern).segments) {
    if (segment.kind === 'static') {
      path += `/${encodeSegment(segment.text)}`
      continue
    }
    const { kind, name } = segment
    const value: unknown = Object.hasOwn(params, name) ? params[name] : undefined
    if (kind === 'param') {
      path += encodeValue(value, pattern, name)
      continue
    }
    const values: unknown = value ?? []
    if (!Array.isArray(values)) throw new HrefError('not-text', pattern, name)
    if (values.length === 0 && kind === 'catchAll') throw new HrefError('missing', pattern, name)
    for (const item of values) path += encodeValue(item, pattern, name)
  }
  return ((path || '/') + encodeSearch(search, defaults)) as Href
}

function encodeValue(value: unknown, pattern: string, name: string): string {
  if (typeof value !== 'string') throw new HrefError(value === undefined ? 'missing' : 'not-text', pattern, name)
  // Browsers drop dots, encoded or not.
  return `/${/^\.{0,2}$/.test(value) || !value.isWellFormed() ? NO_SEGMENT : encodeSegment(value)}`
}

function encodeSearch(search: HrefSearch | undefined, defaults: HrefSearch = {}): string {
  const pairs: string[] = []
  for (const [key, value] of Object.entries(search ?? {})) {
    if (defaults[key] !== undefined && searchTexts(value) === searchTexts(defaults[key])) continue
    const values = Array.isArray(value) ? value : [value]
    for (const item of values) {
      if (item === undefined) continue
      pairs.push([key, String(item)].map((text) => encodeURIComponent(text.toWellFormed())).join('='))
    }
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Equal for values that are equal in a URL. */
function searchTexts(value: HrefSearch[string]): string {
  return JSON.stringify([value].flat().map(String))
}
