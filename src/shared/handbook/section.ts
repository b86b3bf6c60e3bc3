/** A part of a chapter below one heading, up to the next heading. */
export interface Section {
  /** The chapter's file without its ending: `routes`. */
  readonly chapter: string
  /** The chapter's title. */
  readonly title: string
  /** Fragment of the heading, as headings of Markdown have it; empty for the text above the first heading. */
  readonly id: string
  /** The heading; for the text above the first heading, the chapter's title. */
  readonly heading: string
  /** The heading around this one; empty if there is none. */
  readonly parent: string
  /** Prose, lists and tables, without markup and in one line. */
  readonly text: string
  /** Factor of its score in a search; below 1 for chapters that few readers look for. */
  readonly weight: number
  /** The words of code samples that the text does not have, separated by spaces. */
  readonly code: string
}

/** A section with its place in the file. */
export interface SourceSection extends Section {
  /** Line of the heading, from 1. */
  readonly line: number
  /** Its Markdown, heading included. */
  readonly markdown: string
}
