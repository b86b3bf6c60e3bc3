import { notFound, withBasePath } from 'millrace'
import type { LoaderArgs } from 'millrace/server'
import { handbook } from './handbook.server.ts'
import { MARKDOWN_HEADERS, markdownOf } from './markdown-text.server.ts'

/** A chapter as Markdown. A rule leads here from `/docs/<chapter>.md`. */
export async function GET({ params, context }: LoaderArgs<'/docs/markdown/[...chapter]'>): Promise<Response> {
  const path = params.chapter.join('/')
  const slug = path === 'index' ? '' : path
  const chapter = (await handbook.chapters()).find((one) => one.slug === slug)
  if (chapter === undefined) notFound()
  return new Response(markdownOf(chapter, (context.origin ?? '') + withBasePath('/docs')), {
    headers: MARKDOWN_HEADERS,
  })
}
