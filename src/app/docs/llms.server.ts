import { withBasePath } from 'millrace'
import type { LoaderArgs } from 'millrace/server'
import { handbook } from './handbook.server.ts'
import { INTRODUCTION, MARKDOWN_HEADERS, summaryOf } from './markdown-text.server.ts'

/** `llms.txt`: what Millrace is, and the chapters of the handbook as Markdown (llmstxt.org). */
export async function GET({ context }: LoaderArgs<'/llms.txt'>): Promise<Response> {
  const url = (path: string): string => (context.origin ?? '') + withBasePath(path)
  const chapters = (await handbook.chapters()).map(
    (chapter) => `- [${chapter.title}](${url(`/docs/${chapter.slug || 'index'}.md`)}): ${summaryOf(chapter)}`,
  )
  const text = [INTRODUCTION, `All chapters in one file: ${url('/llms-full.txt')}\n`, '## Handbook\n', ...chapters, '']
  return new Response(text.join('\n'), {
    headers: { ...MARKDOWN_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' },
  })
}
