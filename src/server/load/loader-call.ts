import type { LoaderArgs } from '../loader-types.ts'
import type { RequestContext } from '../request/context.ts'
import type { RawSearch } from '../request/search-params.ts'
import { deferMembers, type Deferrable } from './deferred.ts'
import type { SegmentFacts } from './segment-facts.ts'
import { holdsSearch, trackSearch } from './track-search.ts'

/** What one call of a loader needs. */
export interface LoaderCall {
  readonly run: (args: LoaderArgs<string, unknown>) => unknown
  readonly params: LoaderArgs['params']
  /** What the module's schema made of the search params; without a schema they are handed out raw, and watched. */
  readonly search: { readonly parsed: unknown } | { readonly raw: RawSearch }
  /** Told what the data depends on. */
  readonly facts: SegmentFacts
  readonly context: RequestContext
}

/**
 * Calls a loader and prepares its result. What `args` costs to make (request, signal, watched search params) is made
 * only when the loader reads it.
 */
export async function callLoader({ run, params, search, facts, context }: LoaderCall): Promise<Deferrable> {
  let watched: RawSearch | undefined
  const value = await run({
    params,
    get search() {
      return 'parsed' in search ? search.parsed : (watched ??= trackSearch(search.raw, facts))
    },
    get request() {
      // Its URL holds the whole query.
      facts.useAll()
      return context.request
    },
    get signal() {
      return context.signal
    },
    context,
    cache: (options) => facts.keep(options),
  })
  const result = deferMembers(value, context)
  // Nobody sees what a promise will still read of them, and not everybody who reads them inside of the result.
  if (watched !== undefined && (result.deferred || holdsSearch(value, watched))) facts.useAll()
  return result
}
