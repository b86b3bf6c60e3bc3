import { notFound, type Href } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { handbook } from './handbook.server.ts'
import { readLastChanges } from './last-changes.server.ts'

const DEEPEST = 3 // in the list of the page's sections; a chapter of messages has hundreds below

/** All chapters, for the export. */
export async function paths() {
  const chapters = await handbook.chapters()
  return chapters.map(({ slug }) => ({ slug: slug === '' ? [] : slug.split('/') }))
}

/** Asked for once: a server is started again for another version of its chapters. */
const lastChanges: { days?: ReturnType<typeof readLastChanges> } = {}

/** The chapter that the slug names, and its neighbours. */
export async function loader({ params }: LoaderArgs<'/docs/[[...slug]]'>) {
  const chapters = await handbook.chapters()
  const slug = (params.slug ?? []).join('/')
  const at = chapters.findIndex((chapter) => chapter.slug === slug)
  const chapter = chapters[at]
  if (chapter === undefined) notFound()
  const { path, title, html, headings } = chapter
  const source = `${chapter.slug || 'index'}.md`
  const edits = process.env['HANDBOOK_EDIT_URL'] ?? '' // `https://git.example.com/millrace/edit/main/docs/`
  return {
    chapter: { path, title, html, headings: headings.filter(({ depth }) => depth <= DEEPEST) },
    previous: neighbour(chapters[at - 1]),
    next: neighbour(chapters[at + 1]),
    changed: (await (lastChanges.days ??= readLastChanges('docs'))).get(source),
    // The reference is made from the sources.
    edit: URL.canParse(source, edits) && !slug.startsWith('reference') ? new URL(source, edits).href : undefined,
  }
}

function neighbour(chapter: { readonly path: Href; readonly title: string } | undefined) {
  return chapter === undefined ? undefined : { path: chapter.path, title: chapter.title }
}
