/**
 * The mechanism's view of an application's route table: what hangs on which pattern. Components stay opaque here
 * (`unknown`), because this folder knows neither React nor the DOM; `defineRoutes` in `src/client` types them.
 */

/** Loads a module on first use; the bundler makes each call site a chunk of its own. */
export type ModuleLoader<Module = unknown> = () => Promise<Module>

/** The kinds of fallback a segment can bring. */
export type BoundaryKind = 'error' | 'notFound' | 'forbidden' | 'unauthorized'

/** What one pattern of the table brings. Everything is optional; a pattern with neither page nor handler is no URL. */
export interface SegmentDefinition {
  /** Wraps the page of this pattern and everything below it. Stays mounted while the visitor moves below it. */
  readonly layout?: ModuleLoader
  /** The layout's server module (`*.server.ts`): loader. */
  readonly layoutLoader?: ModuleLoader
  /** What a GET of this very pattern shows. */
  readonly page?: ModuleLoader
  /** The page's server module (`*.server.ts`): loader, search schema. */
  readonly loader?: ModuleLoader
  /** A resource route's server module: functions named by method, each answering with a `Response`. Excludes `page`. */
  readonly handler?: ModuleLoader
  /** Shown while the page below this segment's layout is still waiting. */
  readonly loading?: ModuleLoader
  /** Replaces what is inside this segment's layout when that fails. */
  readonly error?: ModuleLoader
  /** Replaces what is inside this segment's layout when that throws `notFound()`. */
  readonly notFound?: ModuleLoader
  /** Replaces what is inside this segment's layout when that throws `forbidden()`. */
  readonly forbidden?: ModuleLoader
  /** Replaces what is inside this segment's layout when that throws `unauthorized()`. */
  readonly unauthorized?: ModuleLoader
}

/**
 * A whole table: keys are patterns, groups included (`'/(site)/lab/params/[id]'`). An entry applies to its own
 * pattern and, with layout and boundaries, to every pattern below it; groups give no URL.
 */
export type RouteDefinitions = Readonly<Record<string, SegmentDefinition>>
