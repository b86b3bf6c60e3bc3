import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/** A name that a module declares or exports, and what it is. */
interface Export {
  readonly kind: string
}

type Declarations = ReadonlyMap<string, string>

/**
 * Everything that the package exports, one line a name: what kind of thing it is, sorted by entry and name.
 * @param entries the declarations of each entry, by the name under which it is imported.
 * @param files declarations by path in `lib`.
 * @throws {Error} for an export whose declaration is not found.
 */
export function apiReport(entries: ReadonlyMap<string, string>, files: Declarations): string {
  const lines = [...entries].flatMap(([entry, path]) => {
    const names = [...exportsOf(path, files)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return [`# ${entry}`, ...names.map(([name, { kind }]) => `${kind} ${name}`), '']
  })
  return lines.join('\n')
}

function exportsOf(path: string, files: Declarations): ReadonlyMap<string, Export> {
  const { program } = parseSync(path, files.get(path) ?? missing(path), { lang: 'dts' })
  const local = new Map<string, Export>()
  const exported = new Map<string, Export>()
  for (const statement of program.body) {
    if (statement.type === 'ExportNamedDeclaration') {
      const from = statement.source === null ? local : importedFrom(path, statement.source.value, files)
      for (const [name, kind] of declaredNames(statement.declaration)) exported.set(name, { kind })
      for (const { local: inner, exported: outer } of statement.specifiers) {
        const name = textOf(outer)
        exported.set(name, from.get(textOf(inner)) ?? missing(`${name} of ${path}`))
      }
    } else if (statement.type === 'ExportAllDeclaration') {
      for (const [name, found] of importedFrom(path, statement.source.value, files)) exported.set(name, found)
    } else {
      for (const [name, kind] of declaredNames(statement)) local.set(name, { kind })
    }
  }
  return exported
}

function importedFrom(path: string, specifier: string, files: Declarations): ReadonlyMap<string, Export> {
  return exportsOf(posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.d.ts'), files)
}

const KINDS: Readonly<Record<string, string>> = {
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
}

/** A node of the tree, as far as declarations go. */
interface Node {
  readonly type: string
  readonly id?: unknown
  readonly declarations?: readonly { readonly id: unknown }[]
}

function declaredNames(node: unknown): readonly (readonly [name: string, kind: string])[] {
  if (node === null || typeof node !== 'object') return []
  const { type, id, declarations } = node as Node
  if (type === 'VariableDeclaration') return (declarations ?? []).map((one) => [textOf(one.id), 'const'] as const)
  const kind = KINDS[type]
  return kind === undefined ? [] : [[textOf(id), kind]]
}

function textOf(name: unknown): string {
  if (typeof name === 'object' && name !== null) {
    if ('name' in name) return String(name.name)
    if ('value' in name) return String(name.value)
  }
  return missing('a name')
}

function missing(what: string): never {
  throw new Error(`The declarations lack ${what}.`)
}
