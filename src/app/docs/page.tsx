import { Link } from 'millrace'
import type { PageProps } from 'millrace'
import { TableOfContents } from './table-of-contents.tsx'
import { trustedProse } from './trusted-prose.ts'
import styles from './page.module.css'
import './prose.css'

type Props = PageProps<'/docs/[[...slug]]', typeof import('./loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: data.chapter.title, canonical: data.chapter.path })

/** One chapter of the handbook. */
export default function DocsPage({ data }: Props) {
  const { chapter, previous, next } = data
  return (
    <div className={styles['page']}>
      <article className={styles['article']}>
        <h1>{chapter.title}</h1>
        {/* Our own Markdown, rendered on the server with raw HTML escaped. */}
        <div className="prose" dangerouslySetInnerHTML={{ __html: trustedProse(chapter.html) }} />
        <nav aria-label="Neighbouring chapters" className={styles['neighbours']}>
          {previous === undefined ? null : (
            <Link href={previous.path} rel="prev">
              <small>Previous</small>
              <span>{previous.title}</span>
            </Link>
          )}
          {next === undefined ? null : (
            <Link href={next.path} rel="next">
              <small>Next</small>
              <span>{next.title}</span>
            </Link>
          )}
        </nav>
      </article>
      <TableOfContents headings={chapter.headings} />
    </div>
  )
}
