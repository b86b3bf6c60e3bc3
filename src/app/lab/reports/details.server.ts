import { z } from 'zod'
import { notFound } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'

/** `item`: which event of the group; default: the newest, even if that event is gone. */
export const search = z.object({ item: boundedInteger({ min: 0, max: 999_999_999, fallback: 0 }) })

type Search = z.output<typeof search>

/** A group and one of its events; not found where reports go to a service. */
export async function loader({ params, search, context, cache }: LoaderArgs<'/lab/reports/[id]', Search>) {
  cache({ lifetime: 'no-store' })
  const details = await context.reports?.group(params.id, search.item === 0 ? undefined : search.item)
  return { ...(details ?? notFound()), now: Date.now() }
}
