import { cacheDirectives } from '../../http/cache-control.ts'

/** How long a kept document may be sent, in milliseconds. */
export interface DocumentLifetime {
  readonly freshMs: number
  /** How much longer, if nothing fresher is available. */
  readonly staleMs: number
}

/** Default: as long as the browser's route cache shows stale data. */
const STALE_SECONDS = 300
const LONGEST_SECONDS = 86_400

/**
 * How long the `Cache-Control` of a document lets an overloaded server send a kept copy. `s-maxage` forbids other
 * caches to send stale copies; it does not bind the origin, which is this server.
 * @returns `undefined` if the document must be rendered each time, or is not public.
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
