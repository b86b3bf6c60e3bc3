import type { Heading } from './heading.ts'
import styles from './table-of-contents.module.css'

/** The chapter's sections, to jump to. Nothing for a chapter with fewer than two. */
export function TableOfContents({ headings }: { readonly headings: readonly Heading[] }) {
  const sections = headings.filter(({ depth }) => depth <= 3)
  if (sections.length < 2) return null
  return (
    <nav aria-label="On this page" className={styles['contents']}>
      <p aria-hidden="true">On this page</p>
      <ul>
        {sections.map(({ id, text, depth }) => (
          <li key={id} data-depth={depth}>
            <a href={`#${id}`}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
