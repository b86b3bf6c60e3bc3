import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'
import { keptTag } from './kept-tag.ts'

const STALE_SECONDS = 60

/** `s`: how many seconds the document is fresh. */
export const search = z.object({ s: boundedInteger({ min: 1, max: 3_600, fallback: 5 }) })

type Search = z.output<typeof search>

/** Tells when it ran, in ms since the epoch: for all visitors at once. */
export function loader({ params: { key }, search: { s }, cache }: LoaderArgs<'/lab/kept/[key]', Search>) {
  cache({ lifetime: s, shared: { seconds: s, staleSeconds: STALE_SECONDS }, tags: [keptTag(key)] })
  return { renderedAt: Date.now(), seconds: s, staleSeconds: STALE_SECONDS }
}
