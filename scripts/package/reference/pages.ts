/**
 * The reference as Markdown: a page for each entry, and for an entry with subjects a page for each of these. Nothing here
 * is written by hand: names and types are those of the declarations, meanings those of their comments.
 */
import { posix } from 'node:path'
import { createSlugs } from '../../../src/shared/handbook/index.ts'
import type { Declaration, Declarations } from './declarations.ts'
import { readDocComment, type DocComment } from './doc-comment.ts'
import { readEntry, type Entry, type EntrySource, type Subject } from './entry.ts'
import { membersOf } from './members.ts'
import { helpersOf, signatureOf } from './signature.ts'
import { docBefore } from './syntax.ts'

const KIND_NAMES: Readonly<Record<string, string>> = {
  function: 'Function',
  class: 'Class',
  interface: 'Interface',
  type: 'Type',
  const: 'Constant',
}

const FIRST_ORDER = 1000 // behind all chapters that are written by hand

/** A page to make. */
interface Page {
  readonly entry: Entry
  /** Below `docs`, without ending: `reference/server/sessions`. */
  readonly path: string
  readonly title: string
  readonly subject: Subject
}

/** All that the reference has, to link to it. */
interface Reference {
  readonly declarations: Declarations
  readonly entries: readonly Entry[]
  readonly pages: readonly Page[]
}

/**
 * Makes the reference.
 * @returns Markdown with front matter by path below `docs`.
 */
export async function referencePages(
  sources: readonly EntrySource[],
  declarations: Declarations,
): Promise<ReadonlyMap<string, string>> {
  const entries = sources.map((source) => readEntry(source, declarations))
  const reference = { declarations, entries, pages: entries.flatMap(pagesOf) }
  const texts = new Map<string, string>()
  const add = (path: string, title: string, body: string): void => {
    const order = FIRST_ORDER + texts.size
    texts.set(
      `${path}.md`,
      `---\ntitle: ${title}\ngroup: reference\norder: ${order}\nweight: 0.4\n---\n\n${body.trim()}\n`,
    )
  }
  const list = entries.map((entry) => `- [\`${entry.name}\`](/docs/${pathOf(entry)}): ${cell(entry.summary)}`)
  add(
    'reference',
    'All entries',
    `The package has these entries. Their exports are described from their types.\n\n${list.join('\n')}`,
  )
  for (const entry of entries) {
    const pages = reference.pages.filter((page) => page.entry === entry)
    if (pages.some(({ subject }) => subject.title !== '')) add(pathOf(entry), entry.name, overviewOf(entry, reference))
    for (const page of pages) {
      const summary = page.subject.title === '' ? `${entry.summary}\n\n` : ''
      add(page.path, page.title, summary + (await sectionsOf(page, reference)))
    }
  }
  return texts
}

function pathOf({ name }: Entry): string {
  return posix.join('reference', name.includes('/') ? name.slice(name.indexOf('/') + 1) : name)
}

function pagesOf(entry: Entry): readonly Page[] {
  return entry.subjects.map((subject) => {
    if (subject.title === '') return { entry, path: pathOf(entry), title: entry.name, subject }
    const path = posix.join(pathOf(entry), createSlugs()(subject.title))
    return { entry, path, title: `${entry.name}: ${subject.title.toLowerCase()}`, subject }
  })
}

/** The list of all exports of an entry. */
function overviewOf({ summary, subjects }: Entry, reference: Reference): string {
  const tables = subjects.map(({ title, exports }) => {
    const rows = sorted(exports).map(([name, declaration]) => {
      const [first = ''] = /^[\s\S]*?[.:](?=\s|$)/.exec(docOf(declaration, reference).text) ?? []
      return `| [\`${name}\`](${urlOf(declaration, reference)}) | ${cell(first.replace(/:$/, '.'))} |`
    })
    return `## ${title}\n\n| export | meaning |\n|---|---|\n${rows.join('\n')}`
  })
  return [summary, ...tables].join('\n\n')
}

/** Functions and classes before types; by name without regard to case. */
function sorted(exports: ReadonlyMap<string, Declaration>): readonly (readonly [string, Declaration])[] {
  const rank = ([name, { kind }]: readonly [string, Declaration]): string => `${isType(kind)}${name.toLowerCase()}`
  return [...exports].toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
}

function isType(kind: string): boolean {
  return kind === 'interface' || kind === 'type'
}

function isSame(one: Declaration, other: Declaration): boolean {
  return one.path === other.path && one.name === other.name
}

/** The page that describes a declaration: the first one that exports it. */
function pageOf(declaration: Declaration, { pages }: Reference): Page | undefined {
  return pages.find(({ subject }) => [...subject.exports.values()].some((one) => isSame(one, declaration)))
}

/** The exports that a page describes. Those of an earlier page are there. */
function describedOn(page: Page, reference: Reference): readonly (readonly [string, Declaration])[] {
  return sorted(page.subject.exports).filter(([, declaration]) => pageOf(declaration, reference) === page)
}

function urlOf(declaration: Declaration, reference: Reference): string {
  const page = pageOf(declaration, reference)
  if (page === undefined) return ''
  const slug = createSlugs()
  const ids = describedOn(page, reference).map(([name, one]) => [slug(name), one] as const)
  return `/docs/${page.path}#${ids.find(([, one]) => isSame(one, declaration))?.[0] ?? ''}`
}

async function sectionsOf(page: Page, reference: Reference): Promise<string> {
  const described = await Promise.all(
    describedOn(page, reference).map(([name, declaration]) => sectionOf(name, declaration, reference)),
  )
  const elsewhere = sorted(page.subject.exports).flatMap(([name, declaration]) =>
    pageOf(declaration, reference) === page ? [] : [`[\`${name}\`](${urlOf(declaration, reference)})`],
  )
  const others = elsewhere.length === 0 ? [] : [`Also exported here: ${elsewhere.join(', ')}.`]
  return [...others, ...described].join('\n\n')
}

async function sectionOf(name: string, declaration: Declaration, reference: Reference): Promise<string> {
  const { declarations, entries } = reference
  const importedFrom = entries
    .filter(({ subjects }) =>
      subjects.some(({ exports }) => [...exports.values()].some((one) => isSame(one, declaration))),
    )
    .map((entry) => `\`${entry.name}\``)
  const helpers = helpersOf(declaration, declarations, (one) => pageOf(one, reference) !== undefined)
  const signatures = await Promise.all([declaration, ...helpers].map((one) => signatureOf(one, declarations)))
  const doc = docOf(declaration, reference)
  const members = [declaration, ...helpers].flatMap((one) =>
    membersOf(one, declarations).flatMap((member) => {
      const text = meaningOf(member.doc)
      return text === '' ? [] : [`- \`${member.name}\`: ${text}`]
    }),
  )
  return [
    `## ${name}`,
    `${KIND_NAMES[declaration.kind] ?? declaration.kind}, exported by ${importedFrom.join(' and ')}.`,
    `\`\`\`ts signature\n${signatures.join('\n\n')}\n\`\`\``,
    doc.text,
    [...paramLines(doc), ...members].join('\n'),
    doc.returns === '' ? '' : `**Returns** ${doc.returns}`,
    doc.throws.map((error) => `**Throws** ${error}`).join('\n\n'),
    doc.examples.join('\n\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function docOf({ path, statements }: Declaration, { declarations }: Reference): DocComment {
  const module = declarations.moduleOf(path)
  const comments = statements.map(({ start }) => docBefore(module, start))
  return readDocComment(comments.find((comment) => comment !== '') ?? '')
}

function paramLines({ params, typeParams }: DocComment): readonly string[] {
  return [...typeParams, ...params].map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
}

/** The comment of a member in one line. */
function meaningOf({ text, params, returns, throws }: DocComment): string {
  return [
    text,
    ...[...params].map(([name, meaning]) => `\`${name}\`: ${meaning}`),
    ...(returns === '' ? [] : [`Returns ${returns}`]),
    ...throws.map((error) => `Throws ${error}`),
  ]
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}
