import { useEffect, useState } from 'react'
import type { Heading } from './heading.ts'
import styles from './table-of-contents.module.css'

/**
 * The chapter's sections, the one on screen marked: beside the text, or folded above it where the screen is narrow. Nothing for
 * a chapter with fewer than two.
 */
export function TableOfContents({ headings: sections }: { readonly headings: readonly Heading[] }) {
  const current = useCurrentSection(sections)
  if (sections.length < 2) return null
  return (
    <nav aria-label="On this page" className={styles['contents']}>
      <p aria-hidden="true">On this page</p>
      <details>
        <summary>On this page</summary>
        <ul>
          {sections.map(({ id, text, depth }) => (
            <li key={id} data-depth={depth === 2 ? undefined : depth}>
              <a href={`#${id}`} aria-current={id === current ? 'location' : undefined}>
                {text}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  )
}

/** Id of the last section that begins in the upper quarter of the window or above it. */
function useCurrentSection(sections: readonly Heading[]): string | undefined {
  const [current, setCurrent] = useState<string>()
  const ids = sections.map(({ id }) => id).join(' ')
  useEffect(() => {
    const headings = ids.split(' ').flatMap((id) => document.getElementById(id) ?? [])
    const observer = new IntersectionObserver(
      () => {
        const limit = window.innerHeight / 4
        setCurrent(headings.findLast((heading) => heading.getBoundingClientRect().top <= limit)?.id)
      },
      { rootMargin: '0px 0px -75% 0px' },
    )
    for (const heading of headings) observer.observe(heading)
    return () => observer.disconnect()
  }, [ids])
  return current
}
