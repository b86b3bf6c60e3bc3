import type { ChapterSummary } from './heading.ts'
import { handbook } from './handbook.server.ts'

/** Never refuses: it does not run for chapters whose navigation the browser has. */
export const guards = false

/** The chapters for the navigation at the side. */
export async function loader(): Promise<{ chapters: ChapterSummary[] }> {
  const chapters = await handbook.chapters()
  return { chapters: chapters.map(({ path, title }) => ({ path, title })) }
}
