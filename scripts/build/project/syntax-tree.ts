import { parseSync } from 'oxc-parser'

/** A node of a module's syntax tree (ESTree, with the nodes of TypeScript). */
export interface SyntaxNode {
  readonly type: string
  /** In UTF-16 units from the start of the module. */
  readonly start: number
  readonly [member: string]: unknown
}

/**
 * Parses a module.
 * @param file its name; the ending decides the syntax.
 * @returns `undefined` for a module with faults: the bundler reports them.
 */
export function parseModule(file: string, text: string): SyntaxNode | undefined {
  const { program, errors } = parseSync(file, text)
  return errors.length > 0 ? undefined : (program as unknown as SyntaxNode)
}

/** Whether a member of a node is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** A node and all nodes inside it, in the order of the text. */
export function* nodesOf(node: SyntaxNode): Generator<SyntaxNode> {
  yield node
  for (const member of Object.values(node)) {
    for (const child of Array.isArray(member) ? (member as unknown[]) : [member])
      if (isNode(child)) yield* nodesOf(child)
  }
}

/** The name of an identifier. */
export function nameOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined
  return value.type === 'Identifier' || value.type === 'JSXIdentifier' ? String(value['name']) : undefined
}

/** The text of a literal. */
export function textOf(value: unknown): string | undefined {
  return isNode(value) && value.type === 'Literal' && typeof value['value'] === 'string' ? value['value'] : undefined
}

const ENTRIES = new Set(['millrace', 'millrace/server'])

/** Local names of imports from the package, with the names that it exports them by. */
export function importedNames(nodes: Iterable<SyntaxNode>): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const node of nodes) {
    if (node.type !== 'ImportDeclaration' || !ENTRIES.has(textOf(node['source']) ?? '')) continue
    for (const specifier of node['specifiers'] as readonly SyntaxNode[]) {
      if (specifier.type === 'ImportSpecifier')
        names.set(nameOf(specifier['local']) ?? '', nameOf(specifier['imported']) ?? '')
    }
  }
  return names
}
