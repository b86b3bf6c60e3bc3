import type { RouteDefinitions, SegmentDefinition } from '../shared/route-definition.ts'

/**
 * Refuses unknown members of entries. A constraint alone allows them, and a guard with a misspelled name would never
 * run.
 */
type WithoutStrangers<Routes> = {
  readonly [Key in keyof Routes]: { readonly [Member in Exclude<keyof Routes[Key], keyof SegmentDefinition>]: never }
}

/**
 * Defines the application's route table. The same value is matched on the server and in the browser.
 *
 * Keys are patterns: `static`, `[id]`, `[...path]`, `[[...path]]` and pathless groups `(name)`. An entry's layout and
 * boundaries apply to every pattern below its own. Write modules as `() => import('./file')`, so that each becomes a
 * separate chunk; the build removes server modules (`*.server.ts`) from the browser's bundle.
 *
 * The build and the server's start check the table; this function does not, because it also runs in the browser. That each
 * module fits its entry is checked where `defineApp` takes the table: the compiler must know the keys without a look at the
 * modules, whose types depend on them.
 * @example
 * ```ts
 * // src/app/routes.ts
 * import { defineRoutes } from 'millrace'
 *
 * export const routes = defineRoutes({
 *   '/': { page: () => import('./home/page.tsx') },
 *   '/mills/[id]': {
 *     page: () => import('./mills/page.tsx'),
 *     loader: () => import('./mills/loader.server.ts'),
 *   },
 * })
 * ```
 */
export function defineRoutes<const Routes extends RouteDefinitions>(routes: Routes & WithoutStrangers<Routes>): Routes {
  return routes
}
