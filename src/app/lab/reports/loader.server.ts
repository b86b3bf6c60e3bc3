import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'
import { LEVELS, SIDES } from './report-filter.ts'

const LONGEST_TEXT = 200 // characters; a longer text counts as none
const text = z.string().max(LONGEST_TEXT).trim().catch('')

/**
 * `page`: from 1; the last one if the number is too high. `q`: a digest, the id of an event or a trace, or words. The
 * rest are filters; what is missing, repeated or unknown filters nothing.
 */
export const search = z.object({
  page: boundedInteger({ min: 1, max: 1_000_000, fallback: 1 }),
  q: text,
  side: z.enum(SIDES).or(z.literal('')).catch(''),
  level: z.enum(LEVELS).or(z.literal('')).catch(''),
  release: text,
})

type Search = z.output<typeof search>

/** One page of groups; none if reports go to a service. */
export function loader({ search, context: { reports }, cache }: LoaderArgs<'/lab/reports', Search>) {
  cache({ lifetime: 'no-store' })
  const { page, q, side, level, release } = search
  const filter = { text: q, side: side || undefined, level: level || undefined, release: release || undefined }
  return {
    inbox: reports?.list(page, filter),
    releases: reports?.releases() ?? [],
    filter: { q, side, level, release },
    // Relative times are the same on the server and in the browser.
    now: Date.now(),
  }
}
