import { href, type HandlerArgs, type LoaderArgs, type SchemaOutput } from 'millrace/server'
import { readAccount, requireAccount } from '../accounts/users.server.ts'
import { articleInput, filters, listArticles, saveArticle, type Filters } from '../articles/store.server.ts'

export const search = filters
export const body = articleInput

export async function GET({ search, context }: LoaderArgs<'/api/articles', Filters>): Promise<Response> {
  return Response.json(listArticles(context.dataDir, search, (await readAccount(context))?.id))
}

type PostArgs = HandlerArgs<'/api/articles', SchemaOutput<typeof articleInput>>

export async function POST({ body, context }: PostArgs): Promise<Response> {
  const { id } = await requireAccount(context)
  const slug = saveArticle(context.dataDir, id, body)
  await context.revalidate('articles')
  return Response.json({ slug }, { status: 201, headers: { Location: href('/api/articles/[slug]', { slug }) } })
}
