import type { LoaderArgs } from 'millrace/server'
import { requireOwnArticle } from '../articles/store.server.ts'

/** An action on this page needs the article too. */
export const guards = true

export async function loader({ params: { slug }, context, cache }: LoaderArgs<'/write/[[...slug]]'>) {
  cache({ lifetime: 'no-store' })
  return { article: slug === undefined ? null : await requireOwnArticle(context, slug.join('/')) }
}
