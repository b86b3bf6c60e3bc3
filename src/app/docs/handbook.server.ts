import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { href, html, type Href, type HtmlValue } from 'millrace'
import {
  ChapterError,
  compareChapters,
  createSearchIndex,
  isChapterPath,
  readChapter,
  sectionsOf,
  type ChapterGroup,
  type ChapterSource,
  type SearchIndex,
  type Section,
} from 'millrace/internal/handbook'
import type { renderMarkdown } from './markdown.server.ts'
import { exportLinks, withExplanations } from './reference.server.ts'
import type { Heading } from './heading.ts'

/** One chapter, ready to be shown. */
export interface Chapter {
  /** The file's path in the folder without its ending; empty for `index.md`. */
  readonly slug: string
  /** The URL's path. */
  readonly path: Href
  /** From the front matter. */
  readonly title: string
  /** The part of the handbook that it belongs to. */
  readonly group: ChapterGroup
  /** Position in its part, from the front matter; ascending. */
  readonly order: number
  /** The Markdown without the front matter. */
  readonly body: string
  /** The body as HTML, escaped where the Markdown held any. */
  readonly html: HtmlValue
  /** The headings below the title, in order. */
  readonly headings: readonly Heading[]
}

/** What a search needs. */
export interface HandbookSearch {
  readonly index: SearchIndex
  /** All sections as JSON, for the index of a browser. */
  readonly json: string
}

/** The handbook as it is on disk. */
export interface Handbook {
  /**
   * All chapters in order. A chapter whose front matter is missing or wrong is the last one, has its file's name as title,
   * and says what is wrong; the others are shown.
   */
  chapters(): Promise<readonly Chapter[]>
  /** The index over all chapters that can be shown. */
  search(): Promise<HandbookSearch>
}

/** What is made of the files. */
interface Edition {
  readonly chapters: readonly Chapter[]
  search(): HandbookSearch
}

const LAST = Number.MAX_SAFE_INTEGER
const RECHECK_AFTER_MS = 1_000 // a saved chapter shows at the next reload, and load does not read the disk

/**
 * Reads the chapters and the reference of one folder and keeps what it made of them until a file changes. A request only ever picks
 * from that list, so that no URL can name another file.
 * Bound: the folder. Lifetime: until the names, sizes or times of the files change, looked at once a second at most.
 * @param folder relative to the working directory, or absolute.
 * @param now in ms; a steady clock.
 */
export function createHandbook(folder: string, now: () => number): Handbook {
  let checkedAt = Number.NEGATIVE_INFINITY
  let signature = ''
  let current: Promise<Edition> | undefined

  async function edition(): Promise<Edition> {
    if (current !== undefined && now() - checkedAt < RECHECK_AFTER_MS) return current
    const paths = await readdir(folder, { recursive: true })
    const names = paths.filter(isChapterPath).toSorted()
    const seen = await signatureOf(folder, names)
    checkedAt = now()
    if (current === undefined || seen !== signature) {
      signature = seen
      current = readEdition(folder, names)
    }
    return current
  }

  return {
    chapters: async () => (await edition()).chapters,
    search: async () => (await edition()).search(),
  }
}

/** The handbook of this application. */
export const handbook = createHandbook('docs', () => performance.now())

async function signatureOf(folder: string, names: readonly string[]): Promise<string> {
  const parts = names.map(async (name) => {
    const { mtimeMs, size } = await stat(join(folder, name))
    return `${name}:${mtimeMs}:${size}`
  })
  return (await Promise.all(parts)).join('|')
}

async function readEdition(folder: string, names: readonly string[]): Promise<Edition> {
  // Parser and highlighter are the largest part of the server: only a request for the handbook loads them.
  const { renderMarkdown } = await import('./markdown.server.ts')
  const read = await Promise.all(names.map(async (name) => readFrom(name, await readFile(join(folder, name), 'utf8'))))
  const sources = withExplanations(read.toSorted(compareChapters))
  const sections = lazily(() =>
    sources.filter(({ order }) => order !== LAST).flatMap((source) => sectionsOf(source).map(asSection)),
  )
  const links = exportLinks(sources)
  return {
    chapters: sources.map((source) => asChapter(source, (body) => renderMarkdown(body, links))),
    search: lazily(() => ({ index: createSearchIndex(sections()), json: JSON.stringify(sections()) })),
  }
}

function readFrom(name: string, source: string): ChapterSource {
  try {
    return readChapter(name, source)
  } catch (error) {
    if (!(error instanceof ChapterError)) throw error
    const body = `This chapter cannot be shown. ${error.message}.`
    return {
      name: name.replace(/\.md$/, ''),
      title: name,
      group: 'explanation',
      order: LAST,
      body,
      weight: 1,
      bodyLine: 1,
    }
  }
}

/** Without what only `millrace docs` needs. */
function asSection({ chapter, title, id, heading, parent, text, code, weight }: Section): Section {
  return { chapter, title, id, heading, parent, text, code, weight }
}

function asChapter(
  { name, title, group, order, body }: ChapterSource,
  render: (body: string) => ReturnType<typeof renderMarkdown>,
): Chapter {
  // One value for all visits: what is known of its HTML is known by the value.
  const rendered = lazily(() => {
    const { html: text, headings } = render(body)
    return { html: html(text), headings }
  })
  return {
    slug: name === 'index' ? '' : name,
    path: chapterPath(name),
    title,
    group,
    order,
    body,
    // A visit renders the chapter that it shows: all of them would hold the server up after each start.
    get html() {
      return rendered().html
    },
    get headings() {
      return rendered().headings
    },
  }
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

/** Path of a chapter by its file's path without the ending. */
export function chapterPath(name: string): Href {
  return href('/docs/[[...slug]]', { slug: name === 'index' ? [] : name.split('/') })
}
