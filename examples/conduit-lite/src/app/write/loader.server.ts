import type { LoaderArgs } from 'millrace/server'
import { requireAccount } from '../accounts/users.server.ts'
import { requireOwnArticle } from '../articles/store.server.ts'

export const guards = true

export async function loader({ params: { slug }, context, cache }: LoaderArgs<'/write/[[...slug]]'>) {
  cache({ lifetime: 'no-store' })
  await requireAccount(context)
  return { article: slug === undefined ? null : await requireOwnArticle(context, slug.join('/')) }
}
