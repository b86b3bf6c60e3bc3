import { join } from 'node:path'
import type { PartialMessage } from 'esbuild'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { actionExports } from './action-exports.ts'
import { actionModule } from './action-modules.ts'
import { BuildFault } from './build-fault.ts'
import type { BuildOptions } from './build-options.ts'
import { isEsbuildFailure } from './esbuild-messages.ts'

/** The namespace of esbuild in which a module with actions is what browsers get of it. */
export const ACTION_REFERENCES = 'action-references'

/**
 * What browsers get in the place of a module with actions: its names, each with a reference to the action. Imports of
 * this text resolve from the project.
 * @param file absolute path of an `actions.server.ts` in the application's folder.
 * @throws as `actionExports`.
 */
export async function actionReferences(
  { root, app }: Pick<BuildOptions, 'root' | 'app'>,
  file: string,
): Promise<string> {
  const module = actionModule(app, file)
  if (module === undefined) throw new Error(`${file} is no actions.server.ts of the application`)
  const names = await actionExports(root, file)
  // Names in quotes: an action may be called `delete`, which no variable can be. A page takes only what it uses.
  const references = names.map(
    (name, index) =>
      `const action${index} = /* @__PURE__ */ actionReference(${JSON.stringify(actionId(module, name))})\n` +
      `export { action${index} as ${JSON.stringify(name)} }\n`,
  )
  return `import { actionReference } from 'millrace/internal/action-reference'\n${references.join('')}`
}

/**
 * The same as an answer for esbuild.
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

/** The path in the project of the source behind a key of a metafile; other keys are given back as they are. */
export function withoutReferences(key: string): string {
  return key.startsWith(`${ACTION_REFERENCES}:`) ? key.slice(ACTION_REFERENCES.length + 1) : key
}
