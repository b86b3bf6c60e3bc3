import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'

/** `page`: from 1; the last one if the number is too high. */
export const search = z.object({ page: boundedInteger({ min: 1, max: 1_000_000, fallback: 1 }) })

type Search = z.output<typeof search>

/** One page of groups; none if reports go to a service. */
export function loader({ search, context, cache }: LoaderArgs<'/lab/reports', Search>) {
  cache({ lifetime: 'no-store' })
  return { inbox: context.reports?.list(search.page) }
}
