import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { forbidden, notFound, type LoaderContext } from 'millrace/server'
import { requireAccount } from '../accounts/users.server.ts'
import { databaseIn } from '../database.server.ts'

const PAGE_SIZE = 10
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })

const byline = { author: z.string(), avatar: z.string().nullable(), at: z.number().transform((at) => DAY.format(at)) }
const previewRow = z.object({
  ...byline,
  slug: z.string(),
  title: z.string(),
  about: z.string(),
  tags: z.string().transform((list) => z.array(z.string()).parse(JSON.parse(list))),
  favourites: z.number(),
  isFavourite: z.number().transform(Boolean),
})
const articleRow = previewRow.extend({ id: z.number(), authorId: z.number(), body: z.string() })
const commentRow = z.object({ ...byline, id: z.number(), body: z.string() })

export type Preview = z.output<typeof previewRow>

/** Of the form, where tags are one text, and of the API, where they are a list. */
export const articleInput = z.object({
  title: z.string().max(120, 'At most 120 characters.').trim().min(1, 'An article needs a title.'),
  about: z.string().max(300, 'At most 300 characters.').trim().default(''),
  body: z
    .string()
    .max(20_000, 'At most 20,000 characters.')
    .transform((text) => text.replaceAll('\r\n', '\n').trim()) // forms send CRLF
    .pipe(z.string().min(1, 'An article needs a text.')),
  tags: z
    .union([z.string().max(300), z.array(z.string().max(24)).max(20)])
    .default('')
    .transform((tags) => [tags].flat().join(' ').toLowerCase())
    .transform((tags) => [...new Set(tags.match(/[\p{L}\p{N}-]+/gu))])
    .pipe(z.array(z.string().max(24, 'A tag has at most 24 characters.')).max(5, 'At most five tags.')),
})

const ARTICLES = `
  SELECT a.id, a.slug, a.title, a.about, a.body, a.at, a.author AS authorId, u.name AS author, u.avatar,
    (SELECT json_group_array(tag) FROM tags WHERE article = a.id) AS tags,
    (SELECT count(*) FROM favourites WHERE article = a.id) AS favourites,
    EXISTS (SELECT 1 FROM favourites WHERE article = a.id AND user = :viewer) AS isFavourite
  FROM articles a JOIN users u ON u.id = a.author`
const LIST = `${ARTICLES}
  WHERE (:tag IS NULL OR a.id IN (SELECT article FROM tags WHERE tag = :tag)) AND (:author IS NULL OR u.name = :author)
    AND (:isFeed = 0 OR a.author IN (SELECT author FROM follows WHERE follower = :viewer))
  ORDER BY a.id DESC LIMIT ${PAGE_SIZE + 1} OFFSET :offset`
const COMMENTS = `SELECT c.id, c.body, c.at, u.name AS author, u.avatar FROM comments c JOIN users u ON u.id = c.author
  WHERE c.article = ? ORDER BY c.id DESC LIMIT 200`

export const filters = z.object({
  tag: z.string().max(24).optional(),
  author: z.string().max(24).optional(),
  show: z.enum(['all', 'feed']).default('all'),
  page: z.coerce.number().int().min(1).max(10_000).default(1),
})
export type Filters = z.output<typeof filters>

export function listArticles(dataDir: string, { tag, author, show, page }: Filters, viewer = 0) {
  const offset = (page - 1) * PAGE_SIZE
  const isFeed = Number(show === 'feed')
  const rows = databaseIn(dataDir)
    .statement(LIST)
    .all({ viewer, tag: tag ?? null, author: author ?? null, isFeed, offset })
  return { articles: z.array(previewRow).parse(rows.slice(0, PAGE_SIZE)), hasMore: rows.length > PAGE_SIZE }
}

export function findArticle(dataDir: string, slug: string, viewer = 0) {
  const row = databaseIn(dataDir).statement(`${ARTICLES} WHERE a.slug = :slug`).get({ slug, viewer })
  return articleRow.optional().parse(row) ?? notFound()
}

/** The article, if this visitor wrote it. Pages, actions and the API ask here: an action takes any slug. */
export async function requireOwnArticle(context: LoaderContext, slug: string) {
  const { id } = await requireAccount(context)
  const article = findArticle(context.dataDir, slug, id)
  return article.authorId === id ? article : forbidden()
}

export function listComments(dataDir: string, article: number) {
  return z.array(commentRow).parse(databaseIn(dataDir).statement(COMMENTS).all(article))
}

/** Adds an article, or replaces the one of a slug. @returns its slug. */
export function saveArticle(dataDir: string, author: number, input: z.output<typeof articleInput>, known?: string) {
  const { title, about, body, tags } = input
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ['article']
  const slug = known ?? `${words.join('-').slice(0, 60)}-${randomBytes(4).toString('hex')}`
  const database = databaseIn(dataDir)
  database.write(() => {
    const sql = `INSERT INTO articles (slug, author, title, about, body, at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (slug) DO UPDATE SET title = excluded.title, about = excluded.about, body = excluded.body`
    database.statement(sql).run(slug, author, title, about, body, Date.now())
    database.statement('DELETE FROM tags WHERE article = (SELECT id FROM articles WHERE slug = ?)').run(slug)
    const addTag = database.statement('INSERT INTO tags (tag, article) SELECT ?, id FROM articles WHERE slug = ?')
    for (const tag of tags) addTag.run(tag, slug)
  })
  return slug
}
