import { Link } from 'millrace'
import type { ChapterSummary } from './heading.ts'
import styles from './chapter-nav.module.css'

/**
 * All chapters, the one on screen marked. There are two lists, of which the style sheet shows one: beside the text, or
 * folded away above it where the screen is narrow. That needs no script.
 */
export function ChapterNav({
  chapters,
  currentPath,
}: {
  readonly chapters: readonly ChapterSummary[]
  readonly currentPath: string
}) {
  const list = (
    <ol>
      {chapters.map(({ path, title }) => (
        <li key={path}>
          <Link href={path} aria-current={path === currentPath ? 'page' : undefined}>
            {title}
          </Link>
        </li>
      ))}
    </ol>
  )
  return (
    <nav aria-label="Chapters" className={styles['chapters']}>
      <div className={styles['beside']}>{list}</div>
      <details key={currentPath} className={styles['folded']}>
        <summary>All chapters</summary>
        {list}
      </details>
    </nav>
  )
}
