import type { Href } from 'millrace'

/** A heading of a chapter. */
export interface Heading {
  /** The fragment of its URL. */
  readonly id: string
  /** Without markup. */
  readonly text: string
  /** 2 for sections, 3 for what is below them. */
  readonly depth: number
}

/** What navigation and search know of a chapter. */
export interface ChapterSummary {
  /** The URL's path. */
  readonly path: Href
  readonly title: string
  readonly headings: readonly Heading[]
}
