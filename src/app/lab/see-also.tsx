import { external, Link } from 'millrace'
import styles from './see-also.module.css'

/** One link of a `SeeAlso`. */
export interface SeeAlsoLink {
  /** A path of this site. */
  readonly href: string
  /** What the link says. */
  readonly label: string
  /** Marks the page that is on screen. */
  readonly current?: boolean
}

/** A row of links to neighbouring pages. */
export function SeeAlso({ label, links }: { readonly label: string; readonly links: readonly SeeAlsoLink[] }) {
  return (
    <nav aria-label={label} className={styles['row']}>
      <span className={styles['label']}>{label}</span>
      <ul>
        {links.map(({ href, label: text, current }) => (
          <li key={href}>
            <Link href={external(href)} aria-current={current === true ? 'page' : undefined}>
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
