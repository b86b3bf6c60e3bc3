import { posix } from 'node:path'
import { isNode, nameOf, parseModule, type ParsedModule, type SyntaxNode } from './syntax.ts'

/** Something that a module declares. */
export interface Declaration {
  readonly name: string
  readonly kind: string
  /** The module's path in `lib`. */
  readonly path: string
  /** Statements: several for a function with overloads. */
  readonly statements: readonly SyntaxNode[]
  /** What is declared: the statements without `export`. */
  readonly nodes: readonly SyntaxNode[]
  /** The members to show, of an interface of which another one picks some; all where it is absent. */
  readonly only?: ReadonlySet<string>
}

/** Looks up what modules declare and export. */
export interface Declarations {
  /**
   * What a module exports, by name.
   * @throws {Error} for a module or an export that is not found.
   */
  exportsOf(path: string): ReadonlyMap<string, Declaration>
  /** What a name means inside a module: its own declaration or an imported one; `undefined` for names of packages. */
  lookUp(path: string, name: string): Declaration | undefined
  moduleOf(path: string): ParsedModule
}

const KINDS: Readonly<Record<string, string>> = {
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  VariableDeclaration: 'const',
}

/** What is in scope in a module. */
interface Scope {
  readonly own: ReadonlyMap<string, Declaration>
  readonly imports: ReadonlyMap<string, { readonly path: string; readonly name: string }>
}

/** @param files declarations by path in `lib`. */
export function createDeclarations(files: ReadonlyMap<string, string>): Declarations {
  const modules = new Map<string, ParsedModule>()
  const scopes = new Map<string, Scope>()

  const moduleOf = (path: string): ParsedModule => {
    const module = modules.get(path) ?? parseModule(path, files.get(path) ?? missing(path))
    modules.set(path, module)
    return module
  }
  const scopeOf = (path: string): Scope => {
    const scope = scopes.get(path) ?? readScope(path, moduleOf(path))
    scopes.set(path, scope)
    return scope
  }
  const lookUp = (path: string, name: string): Declaration | undefined => {
    const { own, imports } = scopeOf(path)
    const imported = imports.get(name)
    return own.get(name) ?? (imported === undefined ? undefined : exportsOf(imported.path).get(imported.name))
  }
  const exportsOf = (path: string): ReadonlyMap<string, Declaration> => {
    const exported = new Map<string, Declaration>()
    for (const statement of moduleOf(path).statements) {
      if (statement.type === 'ExportAllDeclaration') {
        for (const [name, found] of exportsOf(sourceOf(path, statement))) exported.set(name, found)
      }
      if (statement.type !== 'ExportNamedDeclaration') continue
      for (const name of declaredNames(statement['declaration'])) {
        exported.set(name, scopeOf(path).own.get(name) ?? missing(name))
      }
      for (const specifier of statement['specifiers'] as readonly SyntaxNode[]) {
        const [inner, outer] = [nameOf(specifier['local']), nameOf(specifier['exported'])]
        const found = isNode(statement['source'])
          ? exportsOf(sourceOf(path, statement)).get(inner)
          : lookUp(path, inner)
        exported.set(outer, found ?? missing(`${outer} of ${path}`))
      }
    }
    return exported
  }
  return { exportsOf, lookUp, moduleOf }
}

function readScope(path: string, { statements }: ParsedModule): Scope {
  const own = new Map<string, Declaration>()
  const imports = new Map<string, { readonly path: string; readonly name: string }>()
  for (const statement of statements) {
    if (statement.type === 'ImportDeclaration' && nameOf(statement['source']).startsWith('.')) {
      for (const specifier of statement['specifiers'] as readonly SyntaxNode[]) {
        if (specifier.type !== 'ImportSpecifier') continue
        imports.set(nameOf(specifier['local']), {
          path: sourceOf(path, statement),
          name: nameOf(specifier['imported']),
        })
      }
    }
    const node = statement.type === 'ExportNamedDeclaration' ? statement['declaration'] : statement
    for (const name of declaredNames(node)) {
      const { type } = node as SyntaxNode
      const before = own.get(name) // an overload
      own.set(name, {
        name,
        kind: KINDS[type] ?? missing(name),
        path,
        statements: [...(before?.statements ?? []), statement],
        nodes: [...(before?.nodes ?? []), node as SyntaxNode],
      })
    }
  }
  return { own, imports }
}

function declaredNames(node: unknown): readonly string[] {
  if (!isNode(node) || KINDS[node.type] === undefined) return []
  if (node.type !== 'VariableDeclaration') return [nameOf(node['id'])]
  return (node['declarations'] as readonly SyntaxNode[]).map(({ id }) => nameOf(id))
}

function sourceOf(path: string, statement: SyntaxNode): string {
  return posix.join(posix.dirname(path), nameOf(statement['source'])).replace(/\.js$/, '.d.ts')
}

function missing(what: string): never {
  throw new Error(`The declarations lack ${what}.`)
}
