import { notFound, type LoaderArgs } from 'millrace/server'
import { readAccount } from '../accounts/users.server.ts'
import { databaseIn } from '../database.server.ts'
import { filters, listArticles, type Filters } from './store.server.ts'

export const search = filters

export async function loader({ search: { tag, author, show, page }, context, cache }: LoaderArgs<'/', Filters>) {
  cache({ tags: ['articles'] })
  const viewer = (await readAccount(context))?.id ?? 0
  const database = databaseIn(context.dataDir)
  const tags = database.statement('SELECT tag FROM tags GROUP BY tag ORDER BY count(*) DESC, tag LIMIT 20').all()
  const sql =
    'SELECT EXISTS (SELECT 1 FROM follows WHERE follower = ? AND author = id) AS followed FROM users WHERE name = ?'
  const found = author === undefined ? undefined : (database.statement(sql).get(viewer, author) ?? notFound())
  return {
    ...listArticles(context.dataDir, { tag, author, show, page }, viewer),
    tags: tags.map(({ tag }) => String(tag)),
    isFollowed: found?.['followed'] === 1,
  }
}
