import type { IsRegistered } from '../shared/register.ts'
import type { SegmentDefinition } from '../shared/route-definition.ts'
import type { TypedSegment } from './module-types.ts'

/**
 * For a registered table only `defineApp` checks the modules: their types depend on the table's keys, so the compiler
 * must know these without looking at the modules.
 */
type Entry = IsRegistered extends true ? SegmentDefinition : TypedSegment

/**
 * Refuses unknown members of entries. A constraint alone allows them, and a guard with a misspelled name would never
 * run.
 */
type WithoutStrangers<Routes> = {
  readonly [Key in keyof Routes]: { readonly [Member in Exclude<keyof Routes[Key], keyof TypedSegment>]: never }
}

/**
 * Defines the application's route table. The same value is matched on the server and in the browser.
 *
 * Keys are patterns: `static`, `[id]`, `[...path]`, `[[...path]]` and pathless groups `(name)`. An entry's layout and
 * boundaries apply to every pattern below its own. Write modules as `() => import('./file')`, so that each becomes a
 * separate chunk; the build removes server modules (`*.server.ts`) from the browser's bundle.
 *
 * The build and the server's start check the table; this function does not, because it also runs in the browser.
 */
export function defineRoutes<const Routes extends Readonly<Record<string, Entry>>>(
  routes: Routes & WithoutStrangers<Routes>,
): Routes {
  return routes
}
