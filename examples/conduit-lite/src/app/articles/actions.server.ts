import { z } from 'zod'
import { action, href, redirect } from 'millrace/server'
import { readAccount, requireAccount } from '../accounts/users.server.ts'
import { databaseIn } from '../database.server.ts'
import { articleInput, findArticle, requireOwnArticle, saveArticle } from './store.server.ts'

const slugs = z.string().max(100)

export const save = action({
  args: z.tuple([slugs.nullable()]),
  input: articleInput,
  async handler({ args: [known], input, context, revalidate }) {
    const { id } = await requireAccount(context)
    if (known !== null) await requireOwnArticle(context, known)
    const slug = saveArticle(context.dataDir, id, input, known ?? undefined)
    revalidate('articles', `article:${slug}`)
    redirect(href('/articles/[slug]', { slug }))
  },
})

export const remove = action({
  args: z.tuple([slugs]),
  async handler({ args: [slug], context, revalidate }) {
    const { id } = await requireOwnArticle(context, slug)
    databaseIn(context.dataDir).statement('DELETE FROM articles WHERE id = ?').run(id)
    revalidate('articles', `article:${slug}`)
    redirect('/')
  },
})

/** What fails is a state that the button shows: in a list, an error page would take all the other articles away. */
export const favourite = action({
  failure: 'state',
  args: z.tuple([slugs, z.boolean()]),
  async handler({ args: [slug, on], context, revalidate }) {
    const account = await readAccount(context)
    if (account === undefined) return { kind: 'stranger' } as const
    const sql = on
      ? 'INSERT OR IGNORE INTO favourites (user, article) SELECT ?, id FROM articles WHERE slug = ?'
      : 'DELETE FROM favourites WHERE user = ? AND article = (SELECT id FROM articles WHERE slug = ?)'
    databaseIn(context.dataDir).statement(sql).run(account.id, slug)
    revalidate('articles', `article:${slug}`)
    return undefined
  },
})

export const comment = action({
  args: z.tuple([slugs]),
  input: z.object({ body: z.string().max(2_000, 'At most 2,000 characters.').trim().min(1, 'Write something first.') }),
  async handler({ args: [slug], input: { body }, context, revalidate }) {
    const { id: author } = await requireAccount(context)
    const { id } = findArticle(context.dataDir, slug)
    const sql = 'INSERT INTO comments (article, author, body, at) VALUES (?, ?, ?, ?)'
    databaseIn(context.dataDir).statement(sql).run(id, author, body, Date.now())
    revalidate(`article:${slug}`)
  },
})

export const follow = action({
  args: z.tuple([z.string().max(24), z.boolean()]),
  async handler({ args: [name, on], context, revalidate }) {
    const { id } = await requireAccount(context)
    const sql = on
      ? 'INSERT OR IGNORE INTO follows (follower, author) SELECT ?, id FROM users WHERE name = ?'
      : 'DELETE FROM follows WHERE follower = ? AND author = (SELECT id FROM users WHERE name = ?)'
    databaseIn(context.dataDir).statement(sql).run(id, name)
    revalidate('articles')
  },
})
