import { href, Link, useLoaderData, type PageProps } from 'millrace'
import { follow } from './actions.server.ts'
import { Byline, FavouriteButton, Tags } from './preview.tsx'

type Props = PageProps<'/', typeof import('./list.server.ts')>

export const metadata = ({ search: { tag, author } }: Props) => ({ title: author ?? tag ?? 'Articles' })

export default function ListPage({ data: { articles, tags, hasMore, isFollowed }, search }: Props) {
  const { account } = useLoaderData<typeof import('../layout.server.ts')>('/', 'layout')
  const { tag, author, show, page } = search
  return (
    <>
      <h1>{author ?? tag ?? 'Articles'}</h1>
      <nav aria-label="Lists">
        <Link href="/" aria-current={(author ?? tag) === undefined && show === 'all' ? 'page' : undefined}>
          Everything
        </Link>
        {account === null ? null : (
          <Link href="/?show=feed" current="exact">
            Authors you follow
          </Link>
        )}
        {author === undefined || author === account?.name ? null : (
          <form id="follow" action={follow.bind(null, author, !isFollowed)}>
            <button className="quiet">{isFollowed ? 'Unfollow' : 'Follow'}</button>
          </form>
        )}
      </nav>
      <div className="columns">
        <section aria-label="Articles">
          {articles.length === 0 ? <p>There are no articles here yet.</p> : null}
          {articles.map((article) => (
            <article className="preview" key={article.slug}>
              <Byline {...article}>
                <FavouriteButton {...article} />
              </Byline>
              <h2>
                <Link href={href('/articles/[slug]', { slug: article.slug })}>{article.title}</Link>
              </h2>
              <p>{article.about}</p>
              <Tags tags={article.tags} />
            </article>
          ))}
          <nav aria-label="Pages">
            {page > 1 ? <Link href={href('/', {}, { ...search, page: page - 1 })}>Newer</Link> : null}
            {hasMore ? <Link href={href('/', {}, { ...search, page: page + 1 })}>Older</Link> : null}
          </nav>
        </section>
        <aside aria-label="Tags">
          <h2>Tags</h2>
          <Tags tags={tags} />
        </aside>
      </div>
    </>
  )
}
