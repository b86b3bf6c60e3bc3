import { withBasePath } from 'millrace'
import { useState } from 'react'
import type { ChapterSummary } from './heading.ts'
import { searchHandbook } from './search-handbook.ts'
import { SearchHits } from './search-hits.tsx'
import styles from './handbook-search.module.css'

/** Props of `HandbookSearch`. */
export interface HandbookSearchProps {
  readonly chapters: readonly ChapterSummary[]
  /** What the page on screen shows the hits for; empty where it is a chapter. */
  readonly asked: string
}

/** The search box. Without JavaScript it is a form that the server answers; with it, hits show while typing. */
export function HandbookSearch({ chapters, asked }: HandbookSearchProps) {
  const [query, setQuery] = useState('')
  // What was asked for is on the page already.
  const typed = query.trim() === asked ? '' : query.trim()
  const hits = searchHandbook(chapters, typed)
  return (
    <search>
      <form action={withBasePath('/docs')} method="get" className={styles['form']}>
        <label htmlFor="handbook-search">Search the handbook</label>
        <input
          id="handbook-search"
          name="q"
          type="search"
          maxLength={100}
          autoComplete="off"
          defaultValue={asked}
          onChange={(event) => setQuery(event.target.value)}
        />
        <button type="submit">Search</button>
      </form>
      <p role="status" className="visually-hidden">
        {typed === '' ? '' : `${hits.length} found for ${typed}`}
      </p>
      {typed === '' ? null : <SearchHits hits={hits} query={typed} />}
    </search>
  )
}
