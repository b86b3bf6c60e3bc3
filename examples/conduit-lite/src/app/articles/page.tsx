import { href, Link, useEvents, useLoaderData, type PageProps } from 'millrace'
import { ActionForm } from '../form.tsx'
import { comment, remove } from './actions.server.ts'
import { Byline, FavouriteButton, Tags } from './preview.tsx'

type Props = PageProps<'/articles/[slug]', typeof import('./loader.server.ts')>

export const metadata = ({ data: { article } }: Props) => ({ title: article.title, description: article.about })

export default function ArticlePage({ data: { article, comments, isOwn } }: Props) {
  const { slug } = article
  const { account } = useLoaderData<typeof import('../layout.server.ts')>('/', 'layout')
  useEvents(href('/articles/[slug]/events', { slug }), {}) // what others change is loaded again
  const text = { name: 'body', label: 'Your comment', rows: 3 }
  return (
    <article className="narrow">
      <h1>{article.title}</h1>
      <Byline {...article}>
        <FavouriteButton {...article} />
      </Byline>
      {isOwn ? (
        <nav aria-label="This article">
          <Link href={href('/write/[[...slug]]', { slug: [slug] })}>Edit</Link>
          <form id="remove" action={remove.bind(null, slug)}>
            <button className="quiet">Delete</button>
          </form>
        </nav>
      ) : null}
      <div className="prose">
        {article.body.split(/\n{2,}/).map((paragraph, index) => (
          <p key={index}>{paragraph}</p>
        ))}
      </div>
      <Tags tags={article.tags} />
      <h2>Comments</h2>
      {account === null ? (
        <Link href="/account">Sign in to comment</Link>
      ) : (
        <ActionForm id="comment" action={comment.bind(null, slug)} fields={[text]} button="Comment" />
      )}
      <ul className="rows" id="comments">
        {comments.map(({ id, body, ...byline }) => (
          <li key={id}>
            <p className="text">{body}</p>
            <Byline {...byline} />
          </li>
        ))}
      </ul>
    </article>
  )
}
