import { href, type LoaderArgs } from 'millrace/server'
import { readAccount, requireAccount } from '../accounts/users.server.ts'
import { articleInput, filters, listArticles, saveArticle, type Filters } from '../articles/store.server.ts'

export const search = filters

type Args = LoaderArgs<'/api/articles', Filters>

export async function GET({ search, context }: Args): Promise<Response> {
  return Response.json(listArticles(context.dataDir, search, (await readAccount(context))?.id))
}

export async function POST({ request, context }: Args): Promise<Response> {
  const { id } = await requireAccount(context)
  // A form of another site cannot send this type, and a script of one has to ask first.
  if (request.headers.get('Content-Type') !== 'application/json') return refuse(415, 'Send JSON')
  const body: unknown = await request.json().catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw error // too large, or too slow: the runtime answers
  })
  const { data, error } = articleInput.safeParse(body)
  if (data === undefined) return refuse(400, 'Not an article', error?.issues)
  const slug = saveArticle(context.dataDir, id, data)
  await context.revalidate('articles')
  return Response.json({ slug }, { status: 201, headers: { Location: href('/api/articles/[slug]', { slug }) } })
}

function refuse(status: number, title: string, errors: readonly object[] = []): Response {
  return Response.json({ title, status, errors }, { status, headers: { 'Content-Type': 'application/problem+json' } })
}
