import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'
import { REMOVABLE_MS, type Entry } from './entry.ts'
import { guestbookOf, type StoredEntry } from './guestbook.server.ts'
import { visitorSession } from './visitor.server.ts'

/** `page`: from 1; the last one if the number is too high. */
export const search = z.object({ page: boundedInteger({ min: 1, max: 1_000_000, fallback: 1 }) })

type Search = z.output<typeof search>

/** One page of entries, with what this visitor may delete of it. */
export async function loader({ search, context, cache }: LoaderArgs<'/lab/guestbook', Search>) {
  cache({ tags: ['guestbook'] })
  const { data } = await visitorSession.open(context)
  const { entries, ...rest } = guestbookOf(context).read(search.page)
  const now = Date.now()
  return { ...rest, entries: entries.map((entry) => forVisitor(entry, data?.visitor, now)) }
}

function forVisitor({ visitor, ...entry }: StoredEntry, reader: string | undefined, now: number): Entry {
  const own = visitor === reader
  const removableUntil = entry.at + REMOVABLE_MS
  return { ...entry, own, ...(own && now < removableUntil ? { removableUntil } : {}) }
}
