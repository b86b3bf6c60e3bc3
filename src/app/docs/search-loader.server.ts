import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { findSections } from './found-section.ts'
import { handbook } from './handbook.server.ts'
import { LONGEST_QUERY } from './longest-query.ts'

const MOST_FOUND = 20

/** `q`: what to search for. Too long, repeated or missing counts as no search. */
export const search = z.object({ q: z.string().max(LONGEST_QUERY).trim().catch('') })

/** What a search in the handbook finds: for visitors without scripts, and for links. */
export async function loader({ search: { q } }: LoaderArgs<'/docs/search', z.output<typeof search>>) {
  const { index } = await handbook.search()
  return { query: q, sections: findSections(index, q, MOST_FOUND) }
}
