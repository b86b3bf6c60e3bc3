import { join } from 'node:path'
import type { PartialMessage } from 'esbuild'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { actionExports } from './action-exports.ts'
import { actionModule } from './action-modules.ts'
import { BuildFault } from '../build-fault.ts'
import type { BuildOptions } from '../build-options.ts'
import { ACTION_REFERENCES, isEsbuildFailure } from '../esbuild-messages.ts'

/** Global object in which development pages have the actions' sources and names by id. */
const NAMES_GLOBAL = 'window.millraceActionNames'

/**
 * The browser's version of a module with actions: each export is a reference to its action. Imports of this text
 * resolve from the project.
 * @param file absolute path of an `actions.server.ts` in the application's folder.
 * @param tellsNames for development: ids say nothing about their actions.
 * @throws as `actionExports`.
 */
export async function actionReferences(
  { root, app }: Pick<BuildOptions, 'root' | 'app'>,
  file: string,
  tellsNames = false,
): Promise<string> {
  const module = actionModule(app, file)
  if (module === undefined) throw new Error(`${file} is not an actions.server.ts of the application`)
  const names = await actionExports(root, file)
  // Quoted names: an action may be called `delete`, which is not a valid variable. Pages tree-shake unused ones.
  const references = names.map(
    (name, index) =>
      `const action${index} = /* @__PURE__ */ actionReference(${JSON.stringify(actionId(module, name))})\n` +
      `export { action${index} as ${JSON.stringify(name)} }\n`,
  )
  const told = Object.fromEntries(names.map((name) => [actionId(module, name), `${module} ${name}`]))
  const telling = tellsNames ? `Object.assign(${NAMES_GLOBAL} ??= {}, ${JSON.stringify(told)})\n` : ''
  // Without an export, esbuild would only warn of imports from it.
  const exported = references.length === 0 ? 'export {}\n' : references.join('')
  return `import { actionReference } from 'millrace/internal/action-reference'\n${telling}${exported}`
}

/**
 * The same as esbuild's load result.
 * @param key the module's path in the project.
 */
export async function loadReferences(
  options: Pick<BuildOptions, 'root' | 'app'>,
  key: string,
): Promise<{ contents: string; loader: 'js'; resolveDir: string } | { errors: PartialMessage[] }> {
  try {
    const contents = await actionReferences(options, join(options.root, key))
    return { contents, loader: 'js', resolveDir: options.root }
  } catch (error) {
    if (isEsbuildFailure(error)) return { errors: error.errors }
    if (error instanceof BuildFault) return { errors: [{ text: error.message }] }
    throw error
  }
}

/** The key of those references in a metafile. */
export function referencesKey(key: string): string {
  return `${ACTION_REFERENCES}:${key}`
}

/** The path in the project of the source behind a metafile's key; other keys are unchanged. */
export function withoutReferences(key: string): string {
  return key.startsWith(`${ACTION_REFERENCES}:`) ? key.slice(ACTION_REFERENCES.length + 1) : key
}
