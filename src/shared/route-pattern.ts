import type { ListedParams, ListedPlaces, PlacesIn } from './registered-table.ts'
import { decodeSegment } from './route-segment.ts'

type SegmentParams<Segment extends string> = Segment extends `[[...${infer Name}]]`
  ? { readonly [Key in Name]?: readonly string[] }
  : Segment extends `[...${infer Name}]`
    ? { readonly [Key in Name]: readonly string[] }
    : Segment extends `[${infer Name}]`
      ? { readonly [Key in Name]: string }
      : unknown

type PathParams<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? SegmentParams<Segment> & PathParams<Rest>
  : SegmentParams<Path>

// One object instead of an intersection: it reads better in editors and in errors.
type Flat<Members> = { [Key in keyof Members]: Members[Key] }

/**
 * The params of a pattern, decoded once.
 * @typeParam Pattern a literal such as `'/lab/params/[id]'` gives `{ readonly id: string }`; `[...path]` gives a
 * non-empty list, `[[...path]]` an optional list. Plain `string` allows any name. A param that the registered table limits to
 * a list has the type of its values.
 */
export type Params<Pattern extends string> = [Pattern] extends [never]
  ? Readonly<Record<string, string | readonly string[]>>
  : string extends Pattern
    ? Readonly<Record<string, string | readonly string[]>>
    : [keyof ListedPlaces] extends [never]
      ? Flat<PathParams<Pattern>>
      : LimitedParams<Pattern>

type LimitedParams<Pattern extends string> = Pattern extends string
  ? Flat<PathParams<Pattern> & ListedParams<PlacesIn<Pattern>>>
  : never

/** One segment of a pattern. */
export type PatternSegment =
  | {
      readonly kind: 'static'
      /** Decoded; compared with the decoded segment of the path, case-sensitively. */
      readonly text: string
    }
  | {
      /** `[name]` takes one segment, `[...name]` one or more, `[[...name]]` any number. */
      readonly kind: 'param' | 'catchAll' | 'optionalCatchAll'
      /** The key in the params. */
      readonly name: string
    }

/** A parsed pattern. */
export interface ParsedPattern {
  /** As written in the table, groups included. */
  readonly source: string
  /** Without groups, as in the URL. */
  readonly url: string
  /** The segments of `url`; empty for `/`. */
  readonly segments: readonly PatternSegment[]
}

/**
 * Parses a pattern without checking it, because this also runs in the browser: `validateRouteTable` finds faulty patterns
 * in the build and at the server's start, and here they have some harmless meaning.
 */
export function parsePattern(pattern: string): ParsedPattern {
  const written = pattern.split('/').filter((segment) => segment !== '' && !isGroup(segment))
  return { source: pattern, url: `/${written.join('/')}`, segments: written.map(parseSegment) }
}

/** Whether a segment of a pattern is a pathless group, `(name)`. */
export function isGroup(segment: string): boolean {
  return segment.startsWith('(') && segment.endsWith(')')
}

function parseSegment(segment: string): PatternSegment {
  if (!segment.startsWith('[') || !segment.endsWith(']')) {
    // A pattern may be written as in the URL: '/caf%C3%A9' is '/café'. A stray percent sign is literal.
    return { kind: 'static', text: decodeSegment(segment) ?? segment }
  }
  if (segment.startsWith('[[...')) return { kind: 'optionalCatchAll', name: segment.slice(5, -2) }
  if (segment.startsWith('[...')) return { kind: 'catchAll', name: segment.slice(4, -1) }
  return { kind: 'param', name: segment.slice(1, -1) }
}
