import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { href, type Href } from 'millrace'
import type { renderMarkdown } from './markdown.server.ts'
import type { Heading } from './heading.ts'

/** One chapter, ready to be shown. */
export interface Chapter {
  /** The file's name without its ending; empty for `index.md`. */
  readonly slug: string
  /** The URL's path. */
  readonly path: Href
  /** From the front matter. */
  readonly title: string
  /** Place in the handbook, from the front matter; ascending. */
  readonly order: number
  /** The body as HTML, escaped where the Markdown held any. */
  readonly html: string
  /** The headings below the title, in order. */
  readonly headings: readonly Heading[]
}

/** The handbook as it is on disk. */
export interface Handbook {
  /**
   * All chapters in order. One whose front matter is missing or wrong stands last, under its file's name, and says what
   * is wrong with it: the others are shown all the same.
   */
  chapters(): Promise<readonly Chapter[]>
}

/** A chapter that cannot be shown: names the file and what is wrong with it. */
export class HandbookError extends Error {
  override readonly name = 'HandbookError'
}

const LAST = Number.MAX_SAFE_INTEGER
const RECHECK_AFTER_MS = 1_000 // a saved chapter shows at the next reload, and load does not read the disk

/**
 * Reads the Markdown files of one folder and keeps what it made of them until a file changes. A request only ever picks
 * from that list, so that no URL can name another file.
 * Bound: the folder. Lifetime: until the names, sizes or times of the files change, looked at once a second at most.
 * @param folder relative to the working directory, or absolute.
 * @param now in ms; a steady clock.
 */
export function createHandbook(folder: string, now: () => number): Handbook {
  let checkedAt = Number.NEGATIVE_INFINITY
  let signature = ''
  let current: Promise<readonly Chapter[]> | undefined

  return {
    async chapters() {
      if (current !== undefined && now() - checkedAt < RECHECK_AFTER_MS) return current
      const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).toSorted()
      const seen = await signatureOf(folder, names)
      checkedAt = now()
      if (current === undefined || seen !== signature) {
        signature = seen
        current = readChapters(folder, names)
      }
      return current
    },
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

async function readChapters(folder: string, names: readonly string[]): Promise<readonly Chapter[]> {
  // Parser and highlighter are the largest part of the server; who never asks for a chapter never pays for them.
  const { renderMarkdown } = await import('./markdown.server.ts')
  const chapters = names.map(async (name) =>
    readChapter(name, await readFile(join(folder, name), 'utf8'), renderMarkdown),
  )
  return (await Promise.all(chapters)).toSorted((a, b) => a.order - b.order)
}

function readChapter(name: string, source: string, render: typeof renderMarkdown): Chapter {
  try {
    return parseChapter(name, source, render)
  } catch (error) {
    if (!(error instanceof HandbookError)) throw error
    const fault = `This chapter cannot be shown. ${error.message}.`
    return { slug: slugOf(name), path: pathOf(name), title: name, order: LAST, ...render(fault) }
  }
}

/**
 * Makes a chapter of a Markdown file.
 * @param name the file's name, for its slug and for messages.
 * @param render turns its body into HTML.
 * @throws {HandbookError} where the front matter is missing or wrong.
 */
export function parseChapter(name: string, source: string, render: typeof renderMarkdown): Chapter {
  const parts = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(source)
  if (parts === null) throw new HandbookError(`${name}: begin the file with front matter, "---", title, order, "---"`)
  const [, frontMatter = '', body = ''] = parts
  const title = field(name, frontMatter, 'title')
  const order = Number(field(name, frontMatter, 'order'))
  if (!Number.isFinite(order)) throw new HandbookError(`${name}: "order" in the front matter is not a number`)
  return { slug: slugOf(name), path: pathOf(name), title, order, ...render(body) }
}

function slugOf(name: string): string {
  return name === 'index.md' ? '' : name.replace(/\.md$/, '')
}

function pathOf(name: string): Href {
  return href('/docs/[[...slug]]', { slug: name === 'index.md' ? [] : [slugOf(name)] })
}

function field(file: string, frontMatter: string, key: string): string {
  const value = new RegExp(`^${key}:[ \\t]*(.+)$`, 'm').exec(frontMatter)?.[1]?.trim()
  if (value === undefined) throw new HandbookError(`${file}: the front matter has no "${key}"`)
  return value
}
