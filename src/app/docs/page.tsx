import { Link } from 'millrace'
import type { PageProps } from 'millrace'
import { Prose } from './prose.tsx'
import { useTargetMark } from './target-mark.ts'
import { TableOfContents } from './table-of-contents.tsx'
import styles from './page.module.css'

type Props = PageProps<'/docs/[[...slug]]', typeof import('./loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: data.chapter.title, canonical: data.chapter.path })

/** Alike on the server and in each browser. */
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' })

/** One chapter of the handbook. */
export default function DocsPage({ data }: Props) {
  const { chapter, previous, next, edit, changed } = data
  useTargetMark()
  return (
    <article className={styles['page']}>
      <h1>{chapter.title}</h1>
      <TableOfContents key={chapter.path} headings={chapter.headings} />
      <Prose key={chapter.path} html={chapter.html} />
      <footer>
        {changed === undefined && edit === undefined ? null : (
          <p className={styles['about']}>
            {changed === undefined ? null : (
              <span>
                Last change: <time dateTime={changed}>{DAY.format(new Date(changed))}</time>
              </span>
            )}
            {edit === undefined ? null : <a href={edit}>Edit this page</a>}
          </p>
        )}
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
      </footer>
    </article>
  )
}
