import { Link } from 'millrace'
import type { ChapterGroup } from './heading.ts'
import styles from './chapter-nav.module.css'

/** All chapters in their groups, the one on screen marked: beside the text, or folded above it where the screen is narrow. */
export function ChapterNav({
  groups,
  currentPath,
}: {
  readonly groups: readonly ChapterGroup[]
  readonly currentPath: string
}) {
  return (
    <nav aria-label="Chapters" className={styles['chapters']}>
      <details key={currentPath}>
        <summary>All chapters</summary>
        {groups.map(({ title, chapters }) => (
          <section key={title}>
            <p>{title}</p>
            <ul>
              {chapters.map(({ path, title, parent }) =>
                parent === undefined || `${currentPath}/`.startsWith(`${parent}/`) ? (
                  <li key={path} data-inner={parent !== undefined || undefined}>
                    <Link
                      href={path}
                      aria-current={path === currentPath ? 'page' : undefined}
                      ref={path === currentPath ? scrollToSight : undefined}
                    >
                      {title}
                    </Link>
                  </li>
                ) : null,
              )}
            </ul>
          </section>
        ))}
      </details>
    </nav>
  )
}

/** The list beside the text scrolls by itself; `scrollIntoView` would scroll the page, too. */
function scrollToSight(link: HTMLAnchorElement | null): void {
  const side = link?.closest('nav')?.parentElement
  if (link === null || !side || side.scrollHeight <= side.clientHeight) return
  const below = link.getBoundingClientRect().top - side.getBoundingClientRect().top
  if (below < 0 || below > side.clientHeight) side.scrollTop += below - side.clientHeight / 2
}
