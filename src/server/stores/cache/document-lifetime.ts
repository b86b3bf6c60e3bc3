import { cacheDirectives } from '../../http/cache-control.ts'

/** For how long a document may be given out that is not made anew, in milliseconds. */
export interface DocumentLifetime {
  readonly freshMs: number
  /** Beyond that, for as long as there is nothing better to give out. */
  readonly staleMs: number
}

/** Where nothing is said: as long as the browser's route cache shows what is old. */
const STALE_SECONDS = 300
const LONGEST_SECONDS = 86_400

/**
 * What a document's `Cache-Control` lets this server do with it when it has no time to make it anew. The server is the
 * origin, and gives out its own work: `s-maxage`, which forbids others to give out what is stale, does not bind it.
 * @returns `undefined` where the document must be made each time, or is not for everybody.
 */
export function documentLifetime(cacheControl: string): DocumentLifetime | undefined {
  const directives = cacheDirectives(cacheControl)
  const seconds = (name: string): number | undefined => {
    const value = directives.get(name)
    if (value === undefined) return undefined
    return /^\d+$/.test(value) ? Math.min(LONGEST_SECONDS, Number(value)) : 0
  }
  if (['private', 'no-cache', 'no-store'].some((name) => directives.has(name))) return undefined
  if (!directives.has('public') && !directives.has('s-maxage')) return undefined
  const strict = directives.has('must-revalidate') || directives.has('proxy-revalidate')
  const stale = strict ? 0 : (seconds('stale-if-error') ?? seconds('stale-while-revalidate') ?? STALE_SECONDS)
  return { freshMs: (seconds('s-maxage') ?? seconds('max-age') ?? 0) * 1_000, staleMs: stale * 1_000 }
}
