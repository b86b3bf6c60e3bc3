import { withBasePath } from 'millrace'
import { createSearchIndex, type SearchIndex, type Section } from 'millrace/internal/handbook'

const held: { index?: Promise<SearchIndex> } = {}

/** The index of the whole handbook: loaded once in a document, and again after a failure. */
export function loadIndex(): Promise<SearchIndex> {
  held.index ??= fetchIndex().catch((error: unknown) => {
    delete held.index
    throw error
  })
  return held.index
}

async function fetchIndex(): Promise<SearchIndex> {
  const answer = await fetch(withBasePath('/docs/search.json'))
  if (!answer.ok) throw new Error(`The handbook's sections: ${answer.status}`)
  return createSearchIndex((await answer.json()) as Section[])
}
