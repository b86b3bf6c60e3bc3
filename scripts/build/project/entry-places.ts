import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { displayPath } from '../build-options.ts'
import { statesRoutes } from '../sides/routes-file.ts'
import { positionOf, type SourcePlace } from '../source-place.ts'
import { isNode, nameOf, nodesOf, parseModule, textOf } from './syntax-tree.ts'

/**
 * Finds an entry of the table in its source. Slow: for messages only.
 * @param root the project.
 * @param app the application's folder.
 * @param member of the entry; without one, or if the entry does not write it itself, the place of the key.
 * @returns `undefined` if no key is written so, because it is computed.
 */
export function entryPlace(
  { root, app }: { readonly root: string; readonly app: string },
  key: string,
  member?: string,
): SourcePlace | undefined {
  const isPackage = (name: string): boolean => name === 'node_modules'
  for (const name of globSync('**/routes.{ts,tsx}', { cwd: app, exclude: isPackage })) {
    const file = join(app, name)
    if (!statesRoutes(file)) continue
    const text = readFileSync(file, 'utf8')
    const program = parseModule(file, text)
    if (program === undefined) continue
    for (const node of nodesOf(program)) {
      if (node.type !== 'Property' || textOf(node['key']) !== key) continue
      const members = isNode(node['value']) ? [...nodesOf(node['value'])] : []
      const written = members.find(
        (one) => one.type === 'Property' && member !== undefined && nameOf(one['key']) === member,
      )
      return { file: displayPath(root, file), ...positionOf(text, (written ?? node).start) }
    }
  }
  return undefined
}
