import { Link } from 'millrace'
import type { SnippetPart } from 'millrace/internal/handbook'
import type { FoundSection } from './found-section.ts'
import styles from './search-hits.module.css'

/** What a search has found, or that it has found nothing. */
export function SearchHits({
  sections,
  query,
}: {
  readonly sections: readonly FoundSection[]
  readonly query: string
}) {
  if (sections.length === 0) return <NothingFound query={query} />
  return (
    <ol className={styles['hits']}>
      {sections.map(({ href, heading, trail, snippet }) => (
        <li key={href}>
          <Link href={href}>
            <span className={styles['heading']}>{heading}</span>
            {trail === '' ? null : <small>{trail}</small>}
          </Link>
          <Snippet parts={snippet} />
        </li>
      ))}
    </ol>
  )
}

/** In place of hits. */
export function NothingFound({ query }: { readonly query: string }) {
  return <p className={styles['none']}>{`Nothing found for “${query}”. Try fewer or other words.`}</p>
}

/** A passage with marks on the words that were found. */
export function Snippet({ parts }: { readonly parts: readonly SnippetPart[] }) {
  return (
    <p className={styles['snippet']}>
      {/* The same parts in the same order for as long as the query stays. */}
      {parts.map(({ text, marked }, index) => (marked ? <mark key={index}>{text}</mark> : text))}
    </p>
  )
}
