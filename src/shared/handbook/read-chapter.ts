import type { SourceSection } from './section.ts'
import { createSlugs } from './slugs.ts'
import { wordsOf } from './words.ts'

/** The parts of the handbook in their order. */
export const CHAPTER_GROUPS = ['start', 'guides', 'reference', 'explanation'] as const

/** A part of the handbook. */
export type ChapterGroup = (typeof CHAPTER_GROUPS)[number]

/** A chapter of the handbook. */
export interface ChapterSource {
  /** The file's path without its ending: `routes`, `reference/server`; `index` is the first chapter. */
  readonly name: string
  readonly title: string
  /** The part that it belongs to, `group` of the front matter; default `guides`. */
  readonly group: ChapterGroup
  /** Position in its part, ascending. */
  readonly order: number
  /** Factor of its score in a search, `weight` of the front matter; default 1. */
  readonly weight: number
  /** The Markdown below the front matter. */
  readonly body: string
  /** Line of the file at which the body begins, from 1. */
  readonly bodyLine: number
}

/** A chapter without valid front matter. The message names the file and what is wrong. */
export class ChapterError extends Error {
  override readonly name = 'ChapterError'
}

/**
 * Reads the front matter of a chapter.
 * @param file the file's path in the folder of the handbook, `routes.md`.
 * @throws {ChapterError} if the front matter is missing or not valid.
 */
export function readChapter(file: string, source: string): ChapterSource {
  const parts = /^(---\r?\n([\s\S]*?)\r?\n---\r?\n)([\s\S]*)$/.exec(source)
  if (parts === null) throw new ChapterError(`${file}: begin the file with front matter, "---", title, order, "---"`)
  const [, head = '', frontMatter = '', body = ''] = parts
  const title = field(file, frontMatter, 'title')
  const order = Number(field(file, frontMatter, 'order'))
  if (!Number.isFinite(order)) throw new ChapterError(`${file}: "order" in the front matter is not a number`)
  const weight = Number(/^weight:[ \t]*(.+)$/m.exec(frontMatter)?.[1] ?? 1)
  if (!Number.isFinite(weight)) throw new ChapterError(`${file}: "weight" in the front matter is not a number`)
  const named = /^group:[ \t]*(.+)$/m.exec(frontMatter)?.[1]?.trim() ?? 'guides'
  const group = CHAPTER_GROUPS.find((one) => one === named)
  if (group === undefined) {
    throw new ChapterError(`${file}: "group" in the front matter is none of ${CHAPTER_GROUPS.join(', ')}`)
  }
  return { name: file.replace(/\.md$/, ''), title, group, order, weight, body, bodyLine: head.split('\n').length }
}

/** Whether a path in the folder of the handbook is that of a chapter. What is for developers of Millrace is in other folders. */
export function isChapterPath(path: string): boolean {
  return /^(?:reference\/(?:[\w-]+\/)?)?[\w-]+\.md$/.test(path)
}

/** Compares chapters by their places in the handbook. */
export function compareChapters(
  one: Pick<ChapterSource, 'group' | 'order'>,
  other: Pick<ChapterSource, 'group' | 'order'>,
): number {
  return CHAPTER_GROUPS.indexOf(one.group) - CHAPTER_GROUPS.indexOf(other.group) || one.order - other.order
}

function field(file: string, frontMatter: string, key: string): string {
  const value = new RegExp(`^${key}:[ \\t]*(.+)$`, 'm').exec(frontMatter)?.[1]?.trim()
  if (value === undefined) throw new ChapterError(`${file}: the front matter has no "${key}"`)
  return value
}

const HEADING = /^(#{2,6})[ \t]+(.+?)[ \t]*$/
const FENCE = /^[ \t]*```/

/** Lines below one heading. */
interface Block {
  readonly level: number
  readonly heading: string
  readonly line: number
  readonly lines: string[]
}

/** The sections of a chapter in their order. The first one is what precedes the first heading. */
export function sectionsOf({ name, title, weight, body, bodyLine }: ChapterSource): readonly SourceSection[] {
  const slug = createSlugs()
  const parents: string[] = []
  return blocksOf(body, title, bodyLine).map(({ level, heading, line, lines }) => {
    parents.length = Math.max(0, level - 2)
    const parent = parents.at(-1) ?? ''
    if (level > 1) parents.push(heading)
    const { prose, samples } = partsOf(lines)
    const text = plainText(prose)
    const known = new Set(wordsOf(`${heading} ${text}`))
    const code = [...new Set(samples.flatMap(wordsOf))].filter((word) => !known.has(word)).join(' ')
    const id = level === 1 ? '' : slug(heading)
    return { chapter: name, title, id, heading, parent, text, code, weight, line, markdown: lines.join('\n').trim() }
  })
}

function blocksOf(body: string, title: string, bodyLine: number): readonly Block[] {
  const blocks: Block[] = [{ level: 1, heading: title, line: 1, lines: [] }]
  let isCode = false
  for (const [index, text] of body.split(/\r?\n/).entries()) {
    if (FENCE.test(text)) isCode = !isCode
    const [, marks, heading] = (isCode ? null : HEADING.exec(text)) ?? []
    if (marks !== undefined && heading !== undefined) {
      blocks.push({ level: marks.length, heading: inlineText(heading), line: bodyLine + index, lines: [] })
    }
    blocks.at(-1)?.lines.push(text)
  }
  return blocks
}

function partsOf(lines: readonly string[]): { readonly prose: string[]; readonly samples: string[] } {
  const prose: string[] = []
  const samples: string[] = []
  let isCode = false
  for (const line of lines) {
    if (FENCE.test(line)) isCode = !isCode
    else if (isCode) samples.push(line)
    else if (!HEADING.test(line)) prose.push(line)
  }
  return { prose, samples }
}

/** Lines of Markdown as one line of text. Cells of a table are separated by a dash. */
function plainText(lines: readonly string[]): string {
  return lines
    .filter((line) => !/^\|[\s|:-]+\|$/.test(line.trim()))
    .map((line) =>
      line
        .replace(/^\s*(?:[-*+]|\d+\.|>)\s+/, '')
        .replace(/^\|\s*|\s*\|\s*$/g, '')
        .replaceAll(/(?<!\\)\s*\|\s*/g, ' – ')
        .replaceAll('\\|', '|'),
    )
    .map(inlineText)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Without the marks of links, code and emphasis. */
function inlineText(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*([^*]+)\*\*/g, '$1')
    .replaceAll(/`+([^`]+)`+/g, '$1')
}
