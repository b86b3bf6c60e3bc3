import type { PageProps } from 'millrace'
import { SearchHits } from './search-hits.tsx'
import styles from './page.module.css'

type Props = PageProps<'/docs/search', typeof import('./search-loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: `Search: ${data.query}`, robots: 'noindex' })

/** What a search in the handbook has found. */
export default function DocsSearchPage({ data: { query, sections } }: Props) {
  return (
    <article className={styles['found']}>
      <h1>{`Search: ${query}`}</h1>
      <SearchHits sections={sections} query={query} />
    </article>
  )
}
