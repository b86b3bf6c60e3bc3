import { join } from 'node:path'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { actionExports } from './action-exports.ts'
import { actionModules } from './action-modules.ts'
import { BuildFault } from '../build-fault.ts'
import { displayPath, type BuildOptions } from '../build-options.ts'

/** An action's names in the source. */
interface ActionName {
  /** Path of the module in the application's folder, with forward slashes. */
  readonly module: string
  /** Name of the export. */
  readonly name: string
}

/**
 * Checks an application's actions without running them.
 * @throws {BuildFault} or esbuild's failure, as `actionExports`.
 */
export async function checkActionNames({ root, app }: Pick<BuildOptions, 'root' | 'app'>): Promise<void> {
  const names = await Promise.all(
    actionModules(app).map(async (module) => {
      const exported = await actionExports(root, join(app, module))
      return exported.map((name): ActionName => ({ module, name }))
    }),
  )
  requireOwnIds(displayPath(root, app), names.flat())
}

/**
 * Refuses two actions with one id, because browsers could not tell them apart.
 * @param folder of the application, for the message.
 * @param idOf `actionId`, except in tests.
 * @throws {BuildFault} naming both.
 */
export function requireOwnIds(
  folder: string,
  actions: readonly ActionName[],
  idOf: (module: string, name: string) => string = actionId,
): void {
  const known = new Map<string, ActionName>()
  for (const action of actions) {
    const id = idOf(action.module, action.name)
    const former = known.get(id)
    if (former !== undefined) {
      const shown = [former, action].map(({ module, name }) => `'${name}' of ${folder}/${module}`)
      throw new BuildFault(`${shown.join(' and ')} have the same id, ${id}. Give one of them another name.`)
    }
    known.set(id, action)
  }
}
