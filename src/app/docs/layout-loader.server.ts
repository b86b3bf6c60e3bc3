import type { ChapterSummary } from './heading.ts'
import { handbook } from './handbook.server.ts'

/** Refuses nobody, so it need not run for chapters whose navigation the browser has. */
export const guards = false

/** What the side navigation and the search box know of the handbook. */
export async function loader(): Promise<{ chapters: ChapterSummary[] }> {
  const chapters = await handbook.chapters()
  return { chapters: chapters.map(({ path, title, headings }) => ({ path, title, headings: [...headings] })) }
}
