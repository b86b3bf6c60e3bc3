import type { LoaderArgs } from 'millrace/server'
import { sharedTag } from './shared-tag.ts'

/** Tells when it ran, and when the value was made that all visitors share. Both in ms since the epoch. */
export async function loader({ params: { key }, context, cache }: LoaderArgs<'/lab/shared/[key]'>) {
  // Nothing here belongs to a visitor, so caches in front of the server may keep the document for a moment, and the server
  // itself may give it out again when it has too much to do.
  context.headers.set('Cache-Control', 'public, s-maxage=1, max-age=0')
  cache({ lifetime: 'no-store', tags: [sharedTag(key)] })
  const madeAt = await context.cached(
    ['lab/shared', key],
    { seconds: 30, staleSeconds: 300, tags: [sharedTag(key)] },
    () => Date.now(),
  )
  return { madeAt, renderedAt: Date.now() }
}
