import { external, type Href } from 'millrace'
import type { ChapterSummary } from './heading.ts'

/** One place in the handbook that a search has found. */
export interface SearchHit {
  /** Path and fragment. */
  readonly href: Href
  /** The chapter's title. */
  readonly chapter: string
  /** The heading, or `undefined` where the chapter's own title fits. */
  readonly heading?: string
}

const MOST_HITS = 30

/**
 * Finds the titles and headings that contain every word of the query, case aside. The same function runs on the server
 * for the form and in the browser while typing.
 * @returns at most 30 places, in the handbook's order; none for an empty query.
 */
export function searchHandbook(chapters: readonly ChapterSummary[], query: string): readonly SearchHit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const hits: SearchHit[] = []
  for (const { path, title, headings } of chapters) {
    if (containsAll(title, words)) hits.push({ href: path, chapter: title })
    for (const { id, text } of headings) {
      // A heading is found by its chapter's words as well: "rules headers" finds the section on headers in "Rules".
      const inHeading = words.some((word) => text.toLowerCase().includes(word))
      if (inHeading && containsAll(`${title} ${text}`, words)) {
        hits.push({ href: external(`${path}#${id}`), chapter: title, heading: text })
      }
    }
  }
  return hits.slice(0, MOST_HITS)
}

function containsAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}
