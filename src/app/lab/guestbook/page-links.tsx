import { href, Link, type Href } from 'millrace'
import styles from './page-links.module.css'

/** Props of `PageLinks`. */
export interface PageLinksProps {
  /** From 1. */
  readonly page: number
  readonly pages: number
}

/** Links to newer and older entries; nothing if there is only one page. */
export function PageLinks({ page, pages }: PageLinksProps) {
  if (pages === 1) return null
  return (
    <nav aria-label="Pages of the guestbook" className={styles['pages']}>
      {page > 1 ? (
        <Link href={hrefOf(page - 1)} rel="prev">
          Newer
        </Link>
      ) : (
        <span aria-hidden="true">Newer</span>
      )}
      <span data-testid="page-number">{`Page ${page} of ${pages}`}</span>
      {page < pages ? (
        <Link href={hrefOf(page + 1)} rel="next">
          Older
        </Link>
      ) : (
        <span aria-hidden="true">Older</span>
      )}
    </nav>
  )
}

function hrefOf(page: number): Href {
  return href('/lab/guestbook', {}, { page: page === 1 ? undefined : page })
}
