import type { PageProps } from 'millrace'
import { LONGEST_QUERY } from './longest-query.ts'
import { SearchHits } from './search-hits.tsx'
import styles from './page.module.css'

type Props = PageProps<'/docs/search', typeof import('./search-loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: titleOf(data.query), robots: 'noindex' })

/** What a search in the handbook has found. */
export default function DocsSearchPage({ data: { query, sections } }: Props) {
  return (
    <article className={styles['found']}>
      <h1>{titleOf(query)}</h1>
      {query === '' ? (
        <p>{`Type a question, a name or an error message into the search box: up to ${LONGEST_QUERY} characters.`}</p>
      ) : (
        <SearchHits sections={sections} query={query} />
      )}
    </article>
  )
}

function titleOf(query: string): string {
  return query === '' ? 'Search the handbook' : `Search: ${query}`
}
