import type { TypedSegment } from './module-types.ts'

/** Refuses members that no entry has. A constraint alone lets them pass, and a guard with a slip in its name never runs. */
type WithoutStrangers<Routes> = {
  readonly [Key in keyof Routes]: { readonly [Member in Exclude<keyof Routes[Key], keyof TypedSegment>]: never }
}

/**
 * States the application's route table. The same value is matched on the server and in the browser.
 *
 * Keys are patterns: `static`, `[id]`, `[...path]`, `[[...path]]` and pathless groups `(name)`. An entry's layout and
 * boundaries apply to every pattern below its own. Modules are written as `() => import('./file')`, so that each is a
 * chunk of its own; server modules (`*.server.ts`) are left out of the browser's bundle by the build.
 *
 * The table is checked by the build and when the server starts, not here: this runs in the browser too.
 */
export function defineRoutes<const Routes extends Readonly<Record<string, TypedSegment>>>(
  routes: Routes & WithoutStrangers<Routes>,
): Routes {
  return routes
}
