import { z } from 'zod'
import { notFound, type Href } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { findSections } from './found-section.ts'
import { handbook } from './handbook.server.ts'
import { LONGEST_QUERY } from './longest-query.ts'

const MOST_FOUND = 20

/** `q`: what to search for. Too long, repeated or missing counts as no search. */
export const search = z.object({ q: z.string().max(LONGEST_QUERY).trim().catch('') })

type Search = z.output<typeof search>

/** The chapter that the slug names, its neighbours, and what a search has found. */
export async function loader({ params, search }: LoaderArgs<'/docs/[[...slug]]', Search>) {
  const chapters = await handbook.chapters()
  const slug = (params.slug ?? []).join('/')
  const at = chapters.findIndex((chapter) => chapter.slug === slug)
  const chapter = chapters[at]
  if (chapter === undefined) notFound()
  const { path, title, html, headings } = chapter
  return {
    chapter: { path, title, html, headings },
    previous: neighbour(chapters[at - 1]),
    next: neighbour(chapters[at + 1]),
    found: search.q === '' ? undefined : { query: search.q, sections: await find(search.q) },
  }
}

async function find(query: string) {
  const { index } = await handbook.search()
  return findSections(index, query, MOST_FOUND)
}

function neighbour(chapter: { readonly path: Href; readonly title: string } | undefined) {
  return chapter === undefined ? undefined : { path: chapter.path, title: chapter.title }
}
