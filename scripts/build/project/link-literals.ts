import { importedNames, isNode, nameOf, nodesOf, parseModule, textOf, type SyntaxNode as Node } from './syntax-tree.ts'
import { positionOf } from '../source-place.ts'

/** A text in a module that says where a link leads. */
export interface LinkLiteral {
  /** `path` of a link or redirect, `pattern` of a call of `href`. */
  readonly kind: 'path' | 'pattern'
  readonly text: string
  /** Of a plain element: its URL has the base path, if there is one, and others are the host's. */
  readonly isPlain?: true
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
}

/** Functions of the package whose first argument is a target or a pattern. */
const CALLS: Readonly<Record<string, LinkLiteral['kind']>> = {
  redirect: 'path',
  permanentRedirect: 'path',
  navigate: 'path',
  href: 'pattern',
}

/** Components of the package, and the prop with their target. */
const TARGETS: Readonly<Record<string, string>> = { Link: 'href', Form: 'action' }

/** Plain elements that lead to a page, and the attribute with their target. */
const ELEMENTS: Readonly<Record<string, string>> = {
  a: 'href',
  area: 'href',
  form: 'action',
  button: 'formAction',
  input: 'formAction',
}

/** A module without these has no link, and parsing is what costs. */
const MAY_LINK = /millrace|<(?:a|area|form|button|input)[\s>]/

/**
 * Finds the literal targets of links in a module: `<Link href="…">`, `<Form action="…">`, those of plain elements,
 * `redirect('…')`, `permanentRedirect('…')`, `navigate('…')` of `useNavigate()`, and the patterns of `href('…')`. A name that
 * the module declares a second time is left out, because it may be another function there.
 * @param file its name; the ending decides the syntax.
 * @returns nothing for a module that does not parse: the bundler reports it.
 */
export function linkLiterals(file: string, text: string): readonly LinkLiteral[] {
  if (!MAY_LINK.test(text)) return []
  const program = parseModule(file, text)
  if (program === undefined) return []
  const nodes = [...nodesOf(program)]
  const imported = importedNames(nodes)
  const declared = nodes.flatMap(declaredNames)
  const navigators = nodes.flatMap((node) => navigatorOf(node, imported))
  /** The package's own name for a local one; `undefined` if it may be something else. */
  const meaning = (local: string): string | undefined => {
    const known = imported.get(local) ?? navigators.find(({ name }) => name === local)?.means
    const others = declared.filter((name) => name === local).length - (imported.has(local) ? 0 : 1)
    return others > 0 ? undefined : known
  }
  return nodes
    .flatMap((node) => targetsOf(node, meaning))
    .map(({ node, ...literal }) => ({ ...literal, ...positionOf(text, node.start) }))
}

/** Names that a node binds, other than by an import. */
function declaredNames(node: Node): readonly string[] {
  switch (node.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
      return boundNames(node['id'])
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [...boundNames(node['id']), ...(node['params'] as readonly unknown[]).flatMap(boundNames)]
    case 'CatchClause':
      return boundNames(node['param'])
    default:
      return []
  }
}

function boundNames(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
      return [String(pattern['name'])]
    case 'ObjectPattern':
      return (pattern['properties'] as readonly Node[]).flatMap((property) =>
        boundNames(property['value'] ?? property['argument']),
      )
    case 'ArrayPattern':
      return (pattern['elements'] as readonly unknown[]).flatMap(boundNames)
    case 'AssignmentPattern':
      return boundNames(pattern['left'])
    case 'RestElement':
      return boundNames(pattern['argument'])
    default:
      return []
  }
}

/** What `const { navigate } = useNavigate()` and `const router = useNavigate()` bind. */
function navigatorOf(node: Node, imported: ReadonlyMap<string, string>): readonly { name: string; means: string }[] {
  if (node.type !== 'VariableDeclarator' || !isNavigatorCall(node['init'], imported)) return []
  const id = node['id'] as Node
  if (id.type === 'Identifier') return [{ name: String(id['name']), means: 'useNavigate()' }]
  if (id.type !== 'ObjectPattern') return []
  return (id['properties'] as readonly Node[]).flatMap((property) =>
    nameOf(property['key']) === 'navigate'
      ? boundNames(property['value']).map((name) => ({ name, means: 'navigate' }))
      : [],
  )
}

function isNavigatorCall(value: unknown, imported: ReadonlyMap<string, string>): boolean {
  if (!isNode(value) || value.type !== 'CallExpression') return false
  return imported.get(nameOf(value['callee']) ?? '') === 'useNavigate'
}

interface Target extends Omit<LinkLiteral, 'line' | 'column'> {
  readonly node: Node
}

function targetsOf(node: Node, meaning: (local: string) => string | undefined): readonly Target[] {
  if (node.type === 'JSXOpeningElement') {
    const name = nameOf(node['name']) ?? ''
    const isPlain = Object.hasOwn(ELEMENTS, name)
    const target = isPlain ? ELEMENTS[name] : TARGETS[meaning(name) ?? '']
    const attributes = node['attributes'] as readonly Node[]
    if (target === undefined || attributes.some(isForFiles)) return []
    return attributes.flatMap((attribute) =>
      nameOf(attribute['name']) === target
        ? literalsOf(attribute['value'], 'path').map((literal) => (isPlain ? { ...literal, isPlain } : literal))
        : [],
    )
  }
  if (node.type !== 'CallExpression') return []
  const kind = CALLS[calledName(node['callee'], meaning) ?? '']
  return kind === undefined ? [] : literalsOf((node['arguments'] as readonly unknown[])[0], kind)
}

/** Whether an attribute says that its link leads to a file, or to something that is not the application's. */
function isForFiles({ name, value }: Node): boolean {
  const attribute = nameOf(name)
  return attribute === 'download' || (attribute === 'rel' && /\bexternal\b/.test(textOf(value) ?? ''))
}

function calledName(callee: unknown, meaning: (local: string) => string | undefined): string | undefined {
  const local = nameOf(callee)
  if (local !== undefined) return meaning(local)
  if (!isNode(callee) || callee.type !== 'MemberExpression' || nameOf(callee['property']) !== 'navigate')
    return undefined
  const object = callee['object']
  const owner = nameOf(object)
  if (owner !== undefined) return meaning(owner) === 'useNavigate()' ? 'navigate' : undefined
  if (!isNode(object) || object.type !== 'CallExpression') return undefined
  return meaning(nameOf(object['callee']) ?? '') === 'useNavigate' ? 'navigate' : undefined
}

/** Literals that an expression may result in. */
function literalsOf(value: unknown, kind: LinkLiteral['kind']): readonly Target[] {
  if (!isNode(value)) return []
  const inside = (...members: readonly string[]) => members.flatMap((member) => literalsOf(value[member], kind))
  switch (value.type) {
    case 'Literal':
      return typeof value['value'] === 'string' ? [{ kind, node: value, text: value['value'] }] : []
    case 'TemplateLiteral': {
      const [only, ...more] = value['quasis'] as readonly { readonly value: { readonly cooked: string | null } }[]
      return more.length > 0 ? [] : [{ kind, node: value, text: only?.value.cooked ?? '' }]
    }
    case 'ConditionalExpression':
      return inside('consequent', 'alternate')
    case 'LogicalExpression':
      return inside('left', 'right')
    case 'JSXExpressionContainer':
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
      return inside('expression')
    default:
      return []
  }
}
