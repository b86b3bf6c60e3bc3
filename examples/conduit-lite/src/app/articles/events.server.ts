import { eventStream, type LoaderArgs } from 'millrace/server'
import { findArticle } from './store.server.ts'

/** Open pages of the article load it again when it, or its comments, change. */
export function GET({ params: { slug }, context }: LoaderArgs<'/articles/[slug]/events'>): Response {
  findArticle(context.dataDir, slug)
  return eventStream(() => undefined, { revalidate: [`article:${slug}`] })
}
