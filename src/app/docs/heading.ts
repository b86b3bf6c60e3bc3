import type { Href } from 'millrace'

/**
 * In front of every id: text decides what follows, and an element with an id is a global of the page, which scripts may
 * take for theirs.
 */
export const ID_PREFIX = 'section-'

/** A heading of a chapter. */
export interface Heading {
  /** The fragment of its URL. */
  readonly id: string
  /** Without markup. */
  readonly text: string
  /** 2 for sections, 3 for what is below them. */
  readonly depth: number
}

/** What the navigation knows of a chapter. */
export interface ChapterSummary {
  /** The URL's path. */
  readonly path: Href
  readonly title: string
  /** Path of the chapter that it is a part of: such a chapter is shown while one of them is on screen. */
  readonly parent?: Href | undefined
}

/** Chapters of one part of the handbook. */
export interface ChapterGroup {
  readonly title: string
  readonly chapters: readonly ChapterSummary[]
}
