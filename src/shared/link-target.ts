import type { IsRegistered, LinkPattern, ListedPlaces, PlacesIn } from './registered-table.ts'

declare const CHECKED: unique symbol

/** A text that `href()` or `external()` has made: links, `navigate` and `redirect` take it as it is. */
export type Href = IsRegistered extends true ? string & { readonly [CHECKED]: 'href' } : string

/** Every path that needs no params, for the compiler to suggest. */
type StaticPath = Exclude<WithoutOptional<LinkPattern>, `${string}[${string}`>
type WithoutOptional<Pattern extends string> = Pattern extends `${infer Path}/[[...${string}`
  ? Path extends ''
    ? '/'
    : Path
  : Pattern

// Where the compiler refuses a text, its message shows what would have been right.
type WayOut = 'use href(pattern, params), or external(text)'

/**
 * What links, `navigate` and `redirect` take, once the application has registered its table by `Register`:
 * - what `href()` and `external()` give
 * - the literal of a path that a pattern matches, with any query and hash
 * - `?…`, `#…`, the empty text
 * - a literal with a scheme, such as `https://…` or `mailto:…`
 *
 * Any other string is refused: it may be a path that no page has.
 * @typeParam To the type of what is given.
 */
export type LinkTarget<To extends string> = IsRegistered extends true ? Checked<To> : string

/**
 * What `redirect` and `permanentRedirect` take: as `LinkTarget`, but no `?…`, no `#…` and no empty text. An action may be
 * called from any page, and a deferred value be read on one.
 * @typeParam To the type of what is given.
 */
export type RedirectTarget<To extends string> = To extends '' | `?${string}` | `#${string}`
  ? 'a redirect needs a path in front of its query or fragment'
  : LinkTarget<To>

type Checked<To extends string> = To extends StaticPath
  ? To
  : To extends Href | '' | `?${string}` | `#${string}`
    ? To
    : To extends `/${string}`
      ? Found<To, PathOf<To>>
      : To extends `${infer Scheme}:${string}`
        ? IsScheme<Scheme> extends true
          ? To
          : WayOut
        : WayOut

type NoRouteMatches<Path extends string> = StaticPath | `no pattern of the table matches ${Path}: ${WayOut}`

/** Returns `To`, or what may replace it, so that the compiler's message can suggest the nearest path. */
type Found<To extends string, Path extends string> = Path extends StaticPath
  ? To
  : {} extends Readonly<Record<Path, 1>> // a template with a hole, and not a literal: such a key makes an index signature
    ? WayOut
    : Matches<Patterns, Path> extends true
      ? To
      : NoInfer<NoRouteMatches<Path>>

type PathOf<To extends string> = To extends `${infer Start}#${string}` ? BeforeQuery<Start> : BeforeQuery<To>
type BeforeQuery<To extends string> = To extends `${infer Start}?${string}` ? Start : To

// The root has no segment; every other segment has one slash in front of it.
type Patterns = LinkPattern extends infer Pattern extends string
  ? Pattern extends '/'
    ? ''
    : [keyof ListedPlaces] extends [never]
      ? Pattern
      : Marked<Pattern, Innermost<PlacesIn<Pattern>>>
  : never

/** A pattern with `[=name]` for each param that is limited to a list. */
type Marked<Pattern extends string, Place extends keyof ListedPlaces> = [Place] extends [never]
  ? Pattern
  : Pattern extends `${Place}${infer More}`
    ? `${MarkedPlaces[Place]}${More}`
    : never

type MarkedPlaces = { [Place in keyof ListedPlaces]: MarkedPlace<Place> }
type MarkedPlace<Place extends keyof ListedPlaces> = Place extends `${infer Outer}/[${ListedPlaces[Place][1]}]`
  ? `${Marked<Outer, Innermost<PlacesIn<Outer>>>}/[=${ListedPlaces[Place][1]}]`
  : never

/** Of places that one pattern passes, the one behind all others. */
type Innermost<Places extends string, All extends string = Places> = Places extends string
  ? [Extract<All, `${Places}/${string}`>] extends [never]
    ? Places
    : never
  : never

/** The marks whose lists have a value. Two lists of one name count as one: the build tells them apart. */
type Marks = {
  [Place in ListedPlaces[keyof ListedPlaces] as Place[2]]: `[=${Place[1]}]`
}

type IsScheme<Text extends string> = Text extends `${string}${'/' | '?' | '#' | ' '}${string}`
  ? false
  : Lowercase<Text> extends '' | 'javascript' | 'data' | 'vbscript'
    ? false
    : true

/** One segment off a set of patterns: what is behind each first segment. */
type Behind<Paths extends string> = { [Path in Paths as First<Path>]: Rest<Path> }
type First<Path extends string> = Path extends `/${infer Segment}/${string}`
  ? Kind<Segment>
  : Path extends `/${infer Segment}`
    ? Kind<Segment>
    : ''
type Rest<Path extends string> = Path extends `/${string}/${infer More}` ? `/${More}` : ''
type Kind<Segment extends string> = Segment extends `[[...${string}`
  ? '[[...]]'
  : Segment extends `[...${string}`
    ? '[...]'
    : Segment extends `[=${string}`
      ? Segment
      : Segment extends `[${string}`
        ? '[]'
        : Segment

/** Whether a pattern of the set matches the path, segment by segment, as `createMatcher` does. */
type Matches<Paths extends string, Path extends string> = Path extends ''
  ? HasEither<Behind<Paths>, '', '[[...]]'>
  : Path extends `/${infer Segment}/${infer More}`
    ? Segment extends ''
      ? false
      : Step<Behind<Paths>, Segment, `/${More}`>
    : Path extends `/${infer Segment}`
      ? Segment extends ''
        ? false
        : Step<Behind<Paths>, Segment, ''>
      : false

// Asked for by `extends` and not by `keyof`, which would go through all patterns for each link.
type Step<Node, Segment extends string, More extends string> =
  Node extends Readonly<Record<Segment, infer Paths extends string>>
    ? Matches<Paths, More> extends true
      ? true
      : StepByList<Node, Segment, More>
    : StepByList<Node, Segment, More>

type StepByList<Node, Segment extends string, More extends string> = Segment extends keyof Marks
  ? true extends Below<Node, Marks[Segment], More>
    ? true
    : StepByParam<Node, More>
  : StepByParam<Node, More>

type Below<Node, Mark extends string, More extends string> = Mark extends string
  ? Node extends Readonly<Record<Mark, infer Paths extends string>>
    ? Matches<Paths, More>
    : false
  : never

type StepByParam<Node, More extends string> = Node extends { readonly '[]': infer Paths extends string }
  ? Matches<Paths, More> extends true
    ? true
    : HasEither<Node, '[...]', '[[...]]'>
  : HasEither<Node, '[...]', '[[...]]'>

type HasEither<Node, One extends string, Other extends string> =
  Node extends Readonly<Record<One, string>> ? true : Node extends Readonly<Record<Other, string>> ? true : false
