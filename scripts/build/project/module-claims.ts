import { importedNames, isNode, nameOf, parseModule, textOf, type SyntaxNode } from './syntax-tree.ts'

/** What a function of a module says by the type of its argument: `PageProps<'/mills/[id]', typeof import('./loader.server.ts')>`. */
export interface Claim {
  /** Patterns, any of which the entry may have; empty if it says nothing of the params. */
  readonly patterns: readonly string[]
  /** Server modules whose data it takes, as written; empty if it takes none. */
  readonly modules: readonly string[]
}

/** Types of the package that say where a module belongs, and the index of a type argument that replaces the params. */
const TYPES: Readonly<Record<string, number | undefined>> = {
  PageProps: undefined,
  LayoutProps: undefined,
  GuardArgs: undefined,
  VisitorArgs: undefined,
  LoaderArgs: 2,
  HandlerArgs: 3,
}

const DEEPEST_ALIAS = 5

/**
 * Reads what the exported functions of a module say of their entry. Types are not evaluated: what is not written in the
 * module itself, with literals, says nothing.
 * @returns claims by the name of the export.
 */
export function moduleClaims(file: string, text: string): ReadonlyMap<string, Claim> {
  const program = text.includes('millrace') ? parseModule(file, text) : undefined
  if (program === undefined) return new Map()
  const statements = (program['body'] as readonly SyntaxNode[]).map((statement) => {
    const { declaration } = statement as { declaration?: unknown }
    return statement.type === 'ExportNamedDeclaration' && isNode(declaration) ? declaration : statement
  })
  const names: Names = { imported: importedNames(statements), types: typesOf(statements), values: valuesOf(statements) }
  const claims = new Map<string, Claim>()
  for (const [name, value] of exportsOf(program['body'] as readonly SyntaxNode[])) {
    const type = argumentType(value, names)
    const claim = type && claimOf(type, names)
    if (claim !== undefined) claims.set(name, claim)
  }
  return claims
}

interface Names {
  /** Of the package, by local name. */
  readonly imported: ReadonlyMap<string, string>
  readonly types: ReadonlyMap<string, SyntaxNode>
  /** Functions and other constants. */
  readonly values: ReadonlyMap<string, SyntaxNode>
}

function typesOf(statements: readonly SyntaxNode[]): ReadonlyMap<string, SyntaxNode> {
  return new Map(
    statements.flatMap((node): [string, SyntaxNode][] => {
      const name = nameOf(node['id'])
      if (name === undefined || node['typeParameters']) return []
      if (node.type === 'TSTypeAliasDeclaration') return [[name, node['typeAnnotation'] as SyntaxNode]]
      const [base] = node.type === 'TSInterfaceDeclaration' ? (node['extends'] as readonly SyntaxNode[]) : []
      return base === undefined ? [] : [[name, base]]
    }),
  )
}

function valuesOf(statements: readonly SyntaxNode[]): ReadonlyMap<string, SyntaxNode> {
  return new Map(
    statements.flatMap((statement): [string, SyntaxNode][] => {
      const node = statement.type === 'ExportDefaultDeclaration' ? statement['declaration'] : statement
      if (!isNode(node)) return []
      if (node.type === 'FunctionDeclaration') return [[nameOf(node['id']) ?? '', node]]
      if (node.type !== 'VariableDeclaration') return []
      return (node['declarations'] as readonly SyntaxNode[]).flatMap(({ id, init }) =>
        isNode(init) ? [[nameOf(id) ?? '', init] as [string, SyntaxNode]] : [],
      )
    }),
  )
}

function* exportsOf(body: readonly SyntaxNode[]): Generator<readonly [name: string, value: unknown]> {
  for (const { type, declaration, specifiers, source } of body) {
    if (type === 'ExportDefaultDeclaration') yield ['default', declaration]
    if (type !== 'ExportNamedDeclaration' || source) continue
    if (isNode(declaration)) for (const [name, value] of valuesOf([declaration])) yield [name, value]
    for (const { local, exported } of specifiers as readonly SyntaxNode[]) yield [nameOf(exported) ?? '', local]
  }
}

/** The type of a function's first argument, also inside of `memo()` and the like. */
function argumentType(value: unknown, names: Names, depth = 0): SyntaxNode | undefined {
  if (!isNode(value) || depth > DEEPEST_ALIAS) return undefined
  const within = (inner: unknown) => argumentType(inner, names, depth + 1)
  switch (value.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression': {
      const [first] = value['params'] as readonly SyntaxNode[]
      const named = first?.type === 'AssignmentPattern' ? first['left'] : first
      const annotation = isNode(named) ? named['typeAnnotation'] : undefined
      return isNode(annotation) ? (annotation['typeAnnotation'] as SyntaxNode) : undefined
    }
    case 'CallExpression':
      return within((value['arguments'] as readonly unknown[])[0])
    case 'Identifier':
      return within(names.values.get(nameOf(value) ?? ''))
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return within(value['expression'])
    default:
      return undefined
  }
}

function claimOf(type: SyntaxNode, names: Names, depth = 0): Claim | undefined {
  const name = nameOf(type['typeName'] ?? type['expression'])
  if (name === undefined || depth > DEEPEST_ALIAS) return undefined
  const own = names.types.get(name)
  if (own !== undefined) return claimOf(own, names, depth + 1)
  const known = names.imported.get(name) ?? ''
  if (!Object.hasOwn(TYPES, known)) return undefined
  const list = type['typeArguments']
  const args = isNode(list) ? (list['params'] as readonly SyntaxNode[]) : []
  const replaced = TYPES[known]
  return {
    patterns: replaced !== undefined && args.length > replaced ? [] : literalsOf(args[0]),
    modules: replaced === undefined ? modulesOf(args[1], names) : [],
  }
}

/** Nothing if any of them is not a literal. */
function literalsOf(type: unknown): readonly string[] {
  if (!isNode(type)) return []
  if (type.type === 'TSUnionType') {
    const each = (type['types'] as readonly unknown[]).map(literalsOf)
    return each.some(({ length }) => length === 0) ? [] : each.flat()
  }
  const text = type.type === 'TSLiteralType' ? textOf(type['literal']) : undefined
  return text === undefined ? [] : [text]
}

function modulesOf(type: unknown, names: Names, depth = 0): readonly string[] {
  if (!isNode(type) || depth > DEEPEST_ALIAS) return []
  if (type.type === 'TSUnionType') return (type['types'] as readonly unknown[]).flatMap((one) => modulesOf(one, names))
  if (type.type === 'TSTypeReference')
    return modulesOf(names.types.get(nameOf(type['typeName']) ?? ''), names, depth + 1)
  const { exprName } = type as { exprName?: unknown }
  const text = isNode(exprName) && exprName.type === 'TSImportType' ? textOf(exprName['source']) : undefined
  return text === undefined ? [] : [text]
}
