/**
 * The runtime's view of an application's route table: definitions by pattern. Components are opaque here (`unknown`),
 * because this folder knows neither React nor the DOM; `defineRoutes` in `src/client` types them.
 */

/** Loads a module on first use; the bundler makes a separate chunk of each call site. */
export type ModuleLoader<Module = unknown> = () => Promise<Module>

/** The kinds of fallbacks of a segment. */
export type BoundaryKind = 'error' | 'notFound' | 'forbidden' | 'unauthorized'

/** The values that a param may have, by its name. */
export type ParamLists = Readonly<Record<string, readonly string[]>>

/** What a function of `variants` may read of a request; frozen. */
export interface VariantRequest {
  /** Request headers, by name in any case. */
  readonly headers: { get(name: string): string | null; has(name: string): boolean }
  /** By name, decoded. */
  readonly cookies: Readonly<Record<string, string | undefined>>
  /** As the visitor asked for it, with the port unless it is the default one; lower case. */
  readonly host: string
}

/** Functions that choose the variant of a page, by name. */
export type Variants = Readonly<Record<string, (request: VariantRequest) => string>>

/** One pattern: its modules, and what holds for its URLs. All is optional; one with neither page nor handler is not a URL. */
export interface SegmentDefinition {
  /**
   * Limits `[name]` params of the pattern to lists of values, decoded: `{ locale: ['en', 'de'] }`. A URL with another value is
   * not of this pattern. A list belongs to the place in the URL, so it holds for every entry that has the param there.
   */
  readonly params?: ParamLists
  /** `false`: no link may lead to this entry, so that a link that only it would answer is a dead one. Default: `true`. */
  readonly linked?: boolean
  /**
   * A server module (`*.server.ts`) whose function `guard` is asked before anything of this entry and of every entry below
   * it runs or is sent: layouts, pages, actions, handlers. It refuses or redirects by throwing.
   */
  readonly guard?: ModuleLoader
  /**
   * `'shared'`: the page is the same for all visitors, so that the server may keep its document and send it again. Only
   * for entries with a page and without a guard in front of it. Default: each request renders it.
   */
  readonly cache?: 'shared'
  /**
   * Of what the kept page depends besides its URL: `{ language: (request) => (request.cookies.language === 'de' ? 'de' : 'en') }`.
   * Each result makes another document, 32 at most; loaders get them as `variants`. Only with `cache: 'shared'`. Browsers load
   * the table, so write nothing secret, and keep it quick: each request for the page runs the functions.
   */
  readonly variants?: Variants
  /**
   * `'early'`: layouts and `loading` are sent at once with status 200, while the page's loader still runs. Crawlers and
   * answers to posts wait for it. Only for entries whose page has a loader and constant metadata, with a `loading` inside
   * of all layouts and without a guard in front of it. Default: the answer waits for the page's loader.
   */
  readonly shell?: 'early'
  /** Wraps the page of this pattern and everything below it. Stays mounted while the visitor navigates below it. */
  readonly layout?: ModuleLoader
  /** The layout's server module (`*.server.ts`): loader. */
  readonly layoutLoader?: ModuleLoader
  /** The page for a GET of exactly this pattern. */
  readonly page?: ModuleLoader
  /** The page's server module (`*.server.ts`): loader, search schema. */
  readonly loader?: ModuleLoader
  /** A resource route's server module: functions named by method, each returning a `Response`. Excludes `page`. */
  readonly handler?: ModuleLoader
  /** Shown inside this segment's layout while the page below it loads. */
  readonly loading?: ModuleLoader
  /** Replaces the content of this segment's layout when that fails. */
  readonly error?: ModuleLoader
  /** Replaces the content of this segment's layout when that throws `notFound()`. */
  readonly notFound?: ModuleLoader
  /** Replaces the content of this segment's layout when that throws `forbidden()`. */
  readonly forbidden?: ModuleLoader
  /** Replaces the content of this segment's layout when that throws `unauthorized()`. */
  readonly unauthorized?: ModuleLoader
}

/** The modules of an entry. */
export function segmentModules(segment: SegmentDefinition): readonly ModuleLoader[] {
  return Object.values(segment).filter((member): member is ModuleLoader => typeof member === 'function')
}

/**
 * A whole table: keys are patterns, groups included (`'/(site)/lab/params/[id]'`). An entry applies to its own pattern
 * and, with layout and boundaries, to every pattern below it; groups do not appear in URLs.
 */
export type RouteDefinitions = Readonly<Record<string, SegmentDefinition>>
