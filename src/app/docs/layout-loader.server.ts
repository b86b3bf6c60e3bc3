import { CHAPTER_GROUPS, type ChapterGroup as GroupName } from 'millrace/internal/handbook'
import type { ChapterGroup, ChapterSummary } from './heading.ts'
import { chapterPath, handbook, type Chapter } from './handbook.server.ts'

/** Never refuses: it does not run for chapters whose navigation the browser has. */
export const guards = false

const TITLES: Readonly<Record<GroupName, string>> = {
  start: 'Start',
  guides: 'Guides',
  reference: 'Reference',
  explanation: 'Explanation',
}

/** The chapters for the navigation at the side. */
export async function loader(): Promise<{ groups: ChapterGroup[] }> {
  const chapters = await handbook.chapters()
  const groups = CHAPTER_GROUPS.map((name) => {
    return { title: TITLES[name], chapters: chapters.filter(({ group }) => group === name).map(summaryOf) }
  })
  return { groups: groups.filter((group) => group.chapters.length > 0) }
}

function summaryOf({ slug, path, title }: Chapter): ChapterSummary {
  const [folder, entry, subject] = slug.split('/')
  if (subject === undefined) return { path, title }
  // "millrace/server: sessions" is below "millrace/server".
  const short = title.replace(/^.*: /, '')
  return { path, title: short.charAt(0).toUpperCase() + short.slice(1), parent: chapterPath(`${folder}/${entry}`) }
}
