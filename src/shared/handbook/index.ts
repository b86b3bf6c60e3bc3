/**
 * The handbook as text: its sections, and search in them. For the reference application, which shows the handbook, and for
 * `millrace docs`. It is not a public interface.
 */
export {
  CHAPTER_GROUPS,
  ChapterError,
  compareChapters,
  isChapterPath,
  readChapter,
  sectionsOf,
  type ChapterGroup,
  type ChapterSource,
} from './read-chapter.ts'
export { createSearchIndex, type SearchHit, type SearchIndex } from './search-index.ts'
export type { Section, SourceSection } from './section.ts'
export { createSlugs } from './slugs.ts'
export type { SnippetPart } from './snippet.ts'
