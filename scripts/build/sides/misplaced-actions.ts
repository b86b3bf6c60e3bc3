import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { displayPath, type BuildOptions } from '../build-options.ts'
import { ACTIONS_FILE } from './action-modules.ts'

const IMPORTS_ACTION = /\bimport\b[^;]*?[{,]\s*action\b[^;]*?\bfrom\s*['"]millrace\/server['"]/
const EXPORTS = /^export\s+(?:async\s+)?(?:const|function)\s+(\w+)(?:[^=\n]*=\s*(action)\b)?/gm

/**
 * What to do with a module that declares actions and is not called `actions.server.ts`.
 * @param file relative to the project's folder.
 * @returns one line that names the file where they belong; `undefined` for a module without actions.
 */
export function misplacedActions({ root, app }: Pick<BuildOptions, 'root' | 'app'>, file: string): string | undefined {
  const path = resolve(root, file)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (!IMPORTS_ACTION.test(text)) return undefined
  const exported = [...text.matchAll(EXPORTS)].map(([, name = '', call]) => ({ name, isAction: call === 'action' }))
  const actions = exported.filter(({ isAction }) => isAction)
  const inside = !relative(app, path).startsWith('..')
  const target = join(inside ? dirname(path) : app, ACTIONS_FILE)
  const place = displayPath(root, target)
  const isWhole = inside && actions.length === exported.length && actions.length > 0 && path.endsWith('.ts')
  if (isWhole && !existsSync(target))
    return `${file} has actions: rename it to ${place}. Only files of this name may have actions.`
  const names = actions.length === 0 ? 'its actions' : actions.map(({ name }) => name).join(', ')
  return `${file} has actions: move ${names} to ${place}, and export each there. Only files of this name may have actions.`
}
