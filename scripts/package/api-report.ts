import type { Declarations } from './reference/declarations.ts'
import type { EntrySource } from './reference/entry.ts'

/**
 * Everything that the package exports, one line a name: what kind of thing it is, sorted by entry and name.
 * @throws {Error} for an export whose declaration is not found.
 */
export function apiReport(entries: readonly EntrySource[], declarations: Declarations): string {
  const lines = entries.flatMap(({ name, types }) => {
    const names = [...declarations.exportsOf(types)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return [`# ${name}`, ...names.map(([exported, { kind }]) => `${kind} ${exported}`), '']
  })
  return lines.join('\n')
}
