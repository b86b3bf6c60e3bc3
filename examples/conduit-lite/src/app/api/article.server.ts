import type { LoaderArgs } from 'millrace/server'
import { readAccount } from '../accounts/users.server.ts'
import { findArticle, requireOwnArticle } from '../articles/store.server.ts'
import { databaseIn } from '../database.server.ts'

type Args = LoaderArgs<'/api/articles/[slug]'>

export async function GET({ params, context }: Args): Promise<Response> {
  const viewer = (await readAccount(context))?.id
  const { id: _, authorId: __, ...article } = findArticle(context.dataDir, params.slug, viewer)
  return Response.json(article)
}

export async function DELETE({ params: { slug }, context }: Args): Promise<Response> {
  const { id } = await requireOwnArticle(context, slug)
  databaseIn(context.dataDir).statement('DELETE FROM articles WHERE id = ?').run(id)
  await context.revalidate('articles', `article:${slug}`)
  return new Response(null, { status: 204 })
}
