import { format } from 'prettier'
import type { Declaration, Declarations } from './declarations.ts'
import { childrenOf, isHidden, isNode, MEMBERS, nameOf, type ParsedModule, type SyntaxNode } from './syntax.ts'

const WIDTH = 76 // characters that the handbook shows beside its sidebar without scrolling

/** Helpers of a helper count, too: three steps reach all of today's. */
const DEEPEST_HELPER = 3

/**
 * A declaration as readers want it: without comments, modifiers that say nothing to a caller, and `undefined` if a
 * member may be left out.
 */
export async function signatureOf(declaration: Declaration, declarations: Declarations): Promise<string> {
  const module = declarations.moduleOf(declaration.path)
  const texts = declaration.nodes.map((node) => {
    return textOf(module, node, cutsOf(module, node, declaration.only)).replace(/^declare /, '')
  })
  const formatted = await format(texts.join('\n'), {
    parser: 'typescript',
    printWidth: WIDTH,
    semi: false,
    singleQuote: true,
    objectWrap: 'collapse',
  })
  return formatted.replaceAll(/\n\s*\n/g, '\n').trim()
}

/** Types with members that a declaration uses and that are not exported. */
export function helpersOf(
  declaration: Declaration,
  declarations: Declarations,
  isExported: (declaration: Declaration) => boolean,
): readonly Declaration[] {
  const found = new Map<string, Declaration>()
  const visit = (user: Declaration, depth: number): void => {
    const module = declarations.moduleOf(user.path)
    const uses = user.nodes.flatMap((node) => shownNodes(module, node, user.only)).flatMap(usesOf)
    for (const { name, only } of uses) {
      const used = declarations.lookUp(user.path, name)
      if (used === undefined || isExported(used) || found.has(used.name) || !hasMembers(used)) continue
      const helper = only === undefined ? used : { ...used, only }
      found.set(used.name, helper)
      if (depth < DEEPEST_HELPER) visit(helper, depth + 1)
    }
  }
  visit(declaration, 1)
  return [...found.values()]
}

/** A node and all nodes inside it that a signature shows, without bounds of type parameters. */
function shownNodes(module: ParsedModule, node: SyntaxNode, only?: ReadonlySet<string>): readonly SyntaxNode[] {
  if (isHidden(module, node) || isLeftOut(node, only)) return []
  const inside = childrenOf(node).filter((child) => node.type !== 'TSTypeParameter' || child !== node['constraint'])
  return [node, ...inside.flatMap((child) => shownNodes(module, child, only))]
}

/** Whether other members are picked, or the interface that has them extends another one. */
export function isLeftOut({ type, key }: SyntaxNode, only: ReadonlySet<string> | undefined): boolean {
  if (only === undefined) return false
  return type === 'TSInterfaceHeritage' || (MEMBERS.has(type) && isNode(key) && !only.has(nameOf(key)))
}

/** The use of a type. */
interface Use {
  readonly name: string
  readonly only?: ReadonlySet<string>
}

function usesOf(node: SyntaxNode): readonly Use[] {
  const named = node.type === 'TSInterfaceHeritage' ? node['expression'] : node['typeName']
  if (!isNode(named) || named.type !== 'Identifier') return []
  const name = nameOf(named)
  if (name !== 'Pick' || !isNode(node['typeArguments'])) return [{ name }]
  const [picked, keys] = childrenOf(node['typeArguments'])
  if (picked === undefined || keys === undefined) return []
  const literals = keys.type === 'TSUnionType' ? childrenOf(keys) : [keys]
  if (literals.some(({ type }) => type !== 'TSLiteralType')) return [{ name }]
  return usesOf(picked).map((use) => ({ ...use, only: new Set(literals.flatMap(childrenOf).map(nameOf)) }))
}

const MEMBER_TYPES: ReadonlySet<string> = new Set(['TSTypeLiteral', 'TSIntersectionType', 'TSUnionType'])

function hasMembers({ kind, nodes }: Declaration): boolean {
  return kind === 'interface' || nodes.some(({ typeAnnotation: type }) => isNode(type) && MEMBER_TYPES.has(type.type))
}

/** A piece to leave out. */
interface Cut {
  readonly start: number
  readonly end: number
}

function textOf({ text }: ParsedModule, { start, end }: SyntaxNode, cuts: readonly Cut[]): string {
  let clean = ''
  let at = start
  for (const cut of cuts.toSorted((one, other) => one.start - other.start)) {
    if (cut.start >= at) clean += text.slice(at, cut.start)
    at = Math.max(at, cut.end)
  }
  return clean + text.slice(at, end)
}

const IMPORTED = /import\("[^"]*"\)\./g

function cutsOf(module: ParsedModule, node: SyntaxNode, only?: ReadonlySet<string>): readonly Cut[] {
  const { text, comments } = module
  const imported = [...text.slice(node.start, node.end).matchAll(IMPORTED)].map(({ 0: found, index }) => ({
    start: node.start + index,
    end: node.start + index + found.length,
  }))
  const inside = comments.filter(({ start }) => start >= node.start && start < node.end)
  return [...inside, ...imported, ...memberCuts(module, node, only)]
}

function memberCuts(module: ParsedModule, node: SyntaxNode, only?: ReadonlySet<string>): readonly Cut[] {
  if (isHidden(module, node) || isLeftOut(node, only)) return [node]
  const cuts: Cut[] = childrenOf(node).flatMap((child) => memberCuts(module, child, only))
  if (only !== undefined && node.type === 'TSInterfaceDeclaration') {
    const [first] = node['extends'] as readonly SyntaxNode[]
    if (first !== undefined) cuts.push({ start: module.text.lastIndexOf('extends', first.start), end: first.start })
  }
  if (MEMBERS.has(node.type)) {
    const [word] = /^(?:override )?(?:readonly )?/.exec(module.text.slice(node.start)) ?? ['']
    cuts.push({ start: node.start, end: node.start + word.length })
  }
  const type = isNode(node['typeAnnotation']) ? node['typeAnnotation']['typeAnnotation'] : undefined
  if (node['optional'] === true && isNode(type) && type.type === 'TSUnionType') {
    const last = childrenOf(type).at(-1)
    if (last?.type === 'TSUndefinedKeyword') {
      cuts.push({ start: module.text.lastIndexOf('|', last.start), end: last.end })
    }
  }
  return cuts
}
