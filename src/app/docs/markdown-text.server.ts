import type { Chapter } from './handbook.server.ts'

/** Headers of the handbook as text: the same for everybody. */
export const MARKDOWN_HEADERS = {
  'Content-Type': 'text/markdown; charset=utf-8',
  'Cache-Control': 'public, max-age=300',
} as const

/**
 * A chapter as Markdown, for programs that read the handbook: its title is the first heading, and links to other chapters
 * lead to their Markdown.
 * @param docs URL of the handbook, without a slash at the end.
 */
export function markdownOf({ title, body }: Chapter, docs: string): string {
  const linked = body.replaceAll(/\]\(\/docs(?:\/([\w/-]+))?(#[\w-]*)?\)/g, (_, name = 'index', fragment = '') => {
    return `](${docs}/${name}.md${fragment})`
  })
  return `# ${title}\n\n${linked.trim()}\n`
}

/** The first sentence of a chapter, for a list of chapters. */
export function summaryOf({ body }: Chapter): string {
  const [paragraph = ''] = body.trim().split(/\n\s*\n/)
  const text = paragraph.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ')
  return /^.+?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, '.') ?? text
}

/** What Millrace is, in the first lines of `llms.txt`. */
export const INTRODUCTION = `# Millrace

> A React application server on Express 5, in TypeScript: streamed server rendering, one route table for server and browser,
> loaders, form actions, a client router, sessions and caching.
`
