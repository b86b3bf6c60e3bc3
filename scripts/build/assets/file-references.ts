import { parseSync } from 'oxc-parser'

/** A file that a module names beside itself. */
export interface FileReference {
  /**
   * `url` for `new URL('./x', import.meta.url)`, `path` for `join(import.meta.dirname, 'x')`, `text` for a template that begins
   * with `import.meta.dirname`.
   */
  readonly kind: 'url' | 'path' | 'text'
  /** As it is written; several parts of a path are joined by slashes. */
  readonly path: string
  /** Offsets of what a replacement replaces: the expression, or for `path` its arguments. */
  readonly start: number
  readonly end: number
  /** Whether it is only the beginning of a path that is computed: a folder. */
  readonly isFolder?: true
  /** What runs the file, where the expression is its argument. */
  readonly runs?: 'module' | 'classic'
}

/** A use of `import.meta` that a bundle cannot keep. */
export interface MetaUse {
  /** `glob`, `env`, the name of a member, `new URL` without a literal, or empty for the object itself. */
  readonly name: string
  readonly start: number
}

/** What a module does with `import.meta`. */
interface MetaUses {
  readonly references: readonly FileReference[]
  readonly others: readonly MetaUse[]
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

const NONE: MetaUses = { references: [], others: [] }

const ABSOLUTE = /^(?:[a-z][a-z\d+.-]*:|\/)/i
const RUNNERS = new Set(['Worker', 'SharedWorker', 'fork'])
const JOINS = new Set(['join', 'resolve'])

/**
 * Finds them in the syntax tree: not in texts and comments.
 * @param file its name; the ending decides the syntax.
 * @returns nothing for a module that does not parse: the bundler reports it.
 */
export function metaUses(file: string, text: string): MetaUses {
  if (!text.includes('import.meta')) return NONE
  const { program, errors } = parseSync(file, text, { preserveParens: false })
  if (errors.length > 0) return NONE
  const found = { references: [] as FileReference[], others: [] as MetaUse[] }
  visit(program as unknown as Node, undefined, found)
  return found
}

interface Found {
  readonly references: FileReference[]
  readonly others: MetaUse[]
}

function visit(node: Node, parent: Node | undefined, found: Found): void {
  if (referenceIn(node, parent, found)) return
  if (node.type === 'MetaProperty' && nameOf(node['meta']) === 'import') {
    const isMember = parent?.type === 'MemberExpression' && parent['object'] === node
    found.others.push({ name: isMember ? (nameOf(parent['property']) ?? '') : '', start: node.start })
  }
  for (const member of Object.values(node)) {
    for (const child of Array.isArray(member) ? (member as unknown[]) : [member]) {
      if (isNode(child)) visit(child, node, found)
    }
  }
}

/** @returns whether the node is a reference, or a URL that has nothing to do with the module's place. */
function referenceIn(node: Node, parent: Node | undefined, { references, others }: Found): boolean {
  const args = (node['arguments'] ?? []) as readonly Node[]
  const { start, end } = node
  if (node.type === 'NewExpression' && nameOf(node['callee']) === 'URL' && args[1] && isMeta(args[1], 'url')) {
    const path = args[0] && literalOf(args[0])
    const head = args[0] && headOf(args[0])
    if (head !== undefined && head.path !== '') references.push({ kind: 'url', ...head, isFolder: true })
    else if (path === undefined) others.push({ name: 'new URL', start })
    else if (!ABSOLUTE.test(path)) references.push({ kind: 'url', path, start, end, ...runnerOf(node, parent) })
    return path === undefined || !path.startsWith('/')
  }
  const [first, ...rest] = args
  if (node.type === 'CallExpression' && JOINS.has(nameOf(node['callee']) ?? '') && first && isMeta(first, 'dirname')) {
    const parts = rest.map(literalOf)
    const count = parts.includes(undefined) ? parts.indexOf(undefined) : parts.length
    if (count === 0) return false
    references.push({
      kind: 'path',
      path: parts.slice(0, count).join('/'),
      start: first.start,
      end: rest[count - 1]?.end ?? end,
      ...(count < parts.length ? { isFolder: true } : {}),
    })
    return true
  }
  if (node.type !== 'TemplateLiteral') return false
  const [expression, ...more] = node['expressions'] as readonly Node[]
  const [before, after] = textsOf(node)
  if (expression === undefined || !isMeta(expression, 'dirname') || before !== '' || after?.startsWith('/') !== true) {
    return false
  }
  if (more.length === 0) {
    references.push({ kind: 'text', path: after.slice(1), start, end })
    return true
  }
  const folder = after.slice(1, after.lastIndexOf('/') + 1)
  const textStart = (more[0]?.start ?? end) - 2 - after.length
  if (folder === '') return false
  references.push({ kind: 'text', path: folder, start: start + 1, end: textStart + 1 + folder.length, isFolder: true })
  return true
}

/** The folder that a computed path begins with, where it is written: `./mails/${name}.html`. */
function headOf(node: Node): Pick<FileReference, 'path' | 'start' | 'end'> | undefined {
  if (node.type !== 'TemplateLiteral' || (node['expressions'] as readonly Node[]).length === 0) return undefined
  const [text = ''] = textsOf(node)
  const path = ABSOLUTE.test(text) ? '' : text.slice(0, text.lastIndexOf('/') + 1)
  return { path, start: node.start + 1, end: node.start + 1 + path.length }
}

/** As they are written: offsets count in them. */
function textsOf(node: Node): readonly string[] {
  return (node['quasis'] as readonly Node[]).map((quasi) => (quasi['value'] as { raw: string }).raw)
}

function runnerOf(node: Node, parent: Node | undefined): Pick<FileReference, 'runs'> {
  const [first, options] = (parent?.['arguments'] ?? []) as readonly Node[]
  if (first !== node || !RUNNERS.has(nameOf(parent?.['callee']) ?? '')) return {}
  const properties = (options?.type === 'ObjectExpression' ? options['properties'] : []) as readonly Node[]
  const isModule = properties.some(
    (one) =>
      isNode(one['key']) &&
      nameOf(one['key']) === 'type' &&
      isNode(one['value']) &&
      literalOf(one['value']) === 'module',
  )
  return { runs: isModule ? 'module' : 'classic' }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Of an identifier, of the last member of an expression, and of a key that is a text. */
function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'MemberExpression') return node['computed'] === true ? undefined : nameOf(node['property'])
  if (node.type === 'Literal') return String(node['value'])
  return node.type === 'Identifier' ? String(node['name']) : undefined
}

function isMeta(node: Node, member: string): boolean {
  const bare =
    node.type === 'TSAsExpression' || node.type === 'TSNonNullExpression' ? (node['expression'] as Node) : node
  const object = bare['object']
  return bare.type === 'MemberExpression' && isNode(object) && object.type === 'MetaProperty' && nameOf(bare) === member
}

function literalOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type !== 'TemplateLiteral' || (node['expressions'] as readonly Node[]).length > 0) return undefined
  return ((node['quasis'] as readonly Node[])[0]?.['value'] as { cooked: string } | undefined)?.cooked
}
