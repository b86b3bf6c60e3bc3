import { Link } from 'millrace'
import type { SearchHit } from './search-handbook.ts'
import styles from './search-hits.module.css'

/** What a search has found, or that it has found nothing. */
export function SearchHits({ hits, query }: { readonly hits: readonly SearchHit[]; readonly query: string }) {
  if (hits.length === 0) return <p className={styles['none']}>{`No title or heading contains “${query}”.`}</p>
  return (
    <ul className={styles['hits']}>
      {hits.map(({ href, chapter, heading }) => (
        <li key={href}>
          <Link href={href}>
            <span>{heading ?? chapter}</span>
            {heading === undefined ? null : <small>{chapter}</small>}
          </Link>
        </li>
      ))}
    </ul>
  )
}
