import type { LoaderArgs } from 'millrace/server'
import { readAccount } from '../accounts/users.server.ts'
import { findArticle, listComments } from './store.server.ts'

export async function loader({ params: { slug }, context, cache }: LoaderArgs<'/articles/[slug]'>) {
  cache({ tags: [`article:${slug}`] })
  const viewer = (await readAccount(context))?.id
  const article = findArticle(context.dataDir, slug, viewer)
  return { article, comments: listComments(context.dataDir, article.id), isOwn: article.authorId === viewer }
}
