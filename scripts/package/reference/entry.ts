import type { Declaration, Declarations } from './declarations.ts'
import { docOf, isNode, nameOf, parseModule, type ParsedModule, type SyntaxNode } from './syntax.ts'

/** A module that applications import. */
export interface EntrySource {
  /** Name under which it is imported: `millrace/server`. */
  readonly name: string
  /** Path of its declarations in `lib`. */
  readonly types: string
  /** Text of its source: comments `// Reference: Sessions` divide its exports. */
  readonly source: string
}

/** Exports that belong together. */
export interface Subject {
  /** Empty for an entry that is not divided. */
  readonly title: string
  /** By the name under which they are exported. */
  readonly exports: ReadonlyMap<string, Declaration>
}

/** An entry with its exports. */
export interface Entry {
  readonly name: string
  /** Markdown. */
  readonly summary: string
  readonly subjects: readonly Subject[]
}

const SUBJECT = /^\s*Reference: (.+)$/

/**
 * Reads the exports of an entry, divided by subject.
 * @throws {Error} for an export above the first subject of a divided entry.
 */
export function readEntry({ name, types, source }: EntrySource, declarations: Declarations): Entry {
  const module = parseModule(`${name}.ts`, source)
  const { statements, comments } = module
  const marks = comments.flatMap(({ value, start }) => {
    const title = SUBJECT.exec(value)?.[1]
    return title === undefined ? [] : [{ title, start }]
  })
  const titleAt = ({ start }: SyntaxNode): string => marks.findLast((mark) => mark.start < start)?.title ?? ''
  const titles = new Map(
    statements.flatMap((statement) => exportedNames(statement).map((one) => [one, titleAt(statement)])),
  )
  const subjects = new Map(
    (marks.length === 0 ? [''] : marks.map(({ title }) => title)).map((title) => [
      title,
      new Map<string, Declaration>(),
    ]),
  )
  for (const [exported, declaration] of declarations.exportsOf(types)) {
    const title = titles.get(exported) ?? marks[0]?.title ?? '' // what `export *` brings
    const subject = subjects.get(title)
    if (subject === undefined) throw new Error(`${name}: no "// Reference: …" is above ${exported}`)
    subject.set(exported, declaration)
  }
  return {
    name,
    summary: summaryOf(module),
    subjects: [...subjects].map(([title, exports]) => ({ title, exports })),
  }
}

function exportedNames(statement: SyntaxNode): readonly string[] {
  if (statement.type !== 'ExportNamedDeclaration') return []
  return (statement['specifiers'] as readonly SyntaxNode[]).map(({ exported }) => nameOf(exported))
}

/** The comment at the head of the module, unless it is that of its first declaration. */
function summaryOf({ statements, comments, text }: ParsedModule): string {
  const [first] = statements
  const head = comments[0]
  if (first === undefined || head === undefined || head.end > first.start) return ''
  const isOfDeclaration = isNode(first['declaration']) && text.slice(head.end, first.start).trim() === ''
  return isOfDeclaration ? '' : docOf(head)
}
