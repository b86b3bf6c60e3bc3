import { parseSync } from 'oxc-parser'

/** A node of a syntax tree, as far as declarations go. */
export interface SyntaxNode {
  readonly type: string
  /** Offset in the text. */
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** A comment with its marks cut off. */
export interface SyntaxComment {
  readonly type: 'Line' | 'Block'
  readonly value: string
  readonly start: number
  readonly end: number
}

/** A module of declarations. */
export interface ParsedModule {
  readonly text: string
  readonly statements: readonly SyntaxNode[]
  readonly comments: readonly SyntaxComment[]
}

/** Parses a module. */
export function parseModule(path: string, text: string): ParsedModule {
  const { program, comments } = parseSync(path, text, { lang: path.endsWith('.d.ts') ? 'dts' : 'ts' })
  return { text, statements: program.body as unknown as readonly SyntaxNode[], comments }
}

/** Whether a member of a node is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The nodes inside a node, not those inside of these. */
export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return Object.values(node).flat().filter(isNode)
}

/** Members of interfaces, type literals and classes. */
export const MEMBERS: ReadonlySet<string> = new Set([
  'TSPropertySignature',
  'TSMethodSignature',
  'TSIndexSignature',
  'PropertyDefinition',
  'MethodDefinition',
])

const HIDDEN: ReadonlySet<unknown> = new Set(['private', 'protected'])

/** Whether a member is private, or its comment has `@internal`. */
export function isHidden(module: ParsedModule, { type, accessibility, key, start }: SyntaxNode): boolean {
  if (!MEMBERS.has(type)) return false
  if (HIDDEN.has(accessibility) || (isNode(key) && key.type === 'PrivateIdentifier')) return true
  return /^@internal\b/m.test(docBefore(module, start))
}

/**
 * The name that an identifier or a text has.
 * @throws {Error} for a node that is neither.
 */
export function nameOf(node: unknown): string {
  if (isNode(node) && typeof node['name'] === 'string') return node['name']
  if (isNode(node) && typeof node['value'] === 'string') return node['value']
  throw new Error('The declarations lack a name.')
}

/** The comment directly in front of an offset; empty if there is none. */
export function docBefore({ text, comments }: ParsedModule, offset: number): string {
  const found = comments.findLast(({ end }) => end <= offset)
  return found === undefined || text.slice(found.end, offset).trim() !== '' ? '' : docOf(found)
}

/** The text of a comment for readers, without the stars of its lines; empty for any other comment. */
export function docOf({ type, value }: SyntaxComment): string {
  if (type !== 'Block' || !value.startsWith('*')) return ''
  return value
    .split('\n')
    .map((line) => line.replace(/^\s*\*+ ?/, ''))
    .join('\n')
    .trim()
}
