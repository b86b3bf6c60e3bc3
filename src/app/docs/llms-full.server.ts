import { withBasePath } from 'millrace'
import type { LoaderArgs } from 'millrace/server'
import { handbook } from './handbook.server.ts'
import { INTRODUCTION, MARKDOWN_HEADERS, markdownOf } from './markdown-text.server.ts'

/** `llms-full.txt`: the whole handbook in one file. */
export async function GET({ context }: LoaderArgs<'/llms-full.txt'>): Promise<Response> {
  const docs = (context.origin ?? '') + withBasePath('/docs')
  const chapters = (await handbook.chapters()).map((chapter) => markdownOf(chapter, docs))
  return new Response([INTRODUCTION, ...chapters].join('\n'), {
    headers: { ...MARKDOWN_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' },
  })
}
