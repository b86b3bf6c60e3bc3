import { external, href, type Href } from 'millrace'
import type { SearchIndex, SnippetPart } from 'millrace/internal/handbook'
import { ID_PREFIX } from './heading.ts'

/** A section of the handbook that a search has found. */
export interface FoundSection {
  /** Path and fragment. */
  readonly href: Href
  readonly heading: string
  /** The chapter, and the heading around the section, if there is one. */
  readonly trail: string
  /** A passage of the section, with the words that were found marked. */
  readonly snippet: readonly SnippetPart[]
}

/** Searches an index, on the server or in the browser, and says where the sections are on this site. */
export function findSections(index: SearchIndex, query: string, most: number): FoundSection[] {
  return index.search(query, most).map(({ section: { chapter, title, id, heading, parent }, snippet }) => {
    const path = href('/docs/[[...slug]]', { slug: chapter === 'index' ? [] : chapter.split('/') })
    return {
      href: id === '' ? path : external(`${path}#${ID_PREFIX}${id}`),
      heading,
      trail: [...(id === '' ? [] : [title]), ...(parent === '' ? [] : [parent])].join(' › '),
      snippet: [...snippet],
    }
  })
}
