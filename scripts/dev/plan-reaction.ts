import { join } from 'node:path'
import type { DevMessage } from '../../src/client/dev/dev-messages.ts'
import { actionModule } from '../build/action-modules.ts'
import { displayPath } from '../build/build-options.ts'
import { CSS_FILE, STYLE } from '../build/css-files.ts'
import type { DevGeneration } from './dev-build.ts'
import { moduleGraph, planUpdate, type ModuleGraph } from './hot-update.ts'
import { stylePath, type ModuleServer } from './module-server.ts'

const RELOAD: DevMessage = { type: 'reload' }

/**
 * Plans the update of open pages after a change, and gives new URLs to the modules that they must reload.
 * @param former the state that they run; `next` is the new one.
 * @param changed paths in the project of the files that differ.
 */
export async function planReaction(
  former: DevGeneration,
  next: DevGeneration,
  changed: readonly string[],
  modules: ModuleServer,
): Promise<DevMessage> {
  const [before, after] = [moduleGraph(former.browser), moduleGraph(next.browser)]
  const { root, app } = next.context
  const madeFrom = (key: string) => next.reads.usersOf(join(root, key)).map((file) => displayPath(root, file))
  const styles = [...new Set([...changed, ...changed.flatMap(madeFrom)])].filter((key) => after.styles.has(key))
  const isPartial = (key: string): boolean => STYLE.test(key) && madeFrom(key).length > 0
  // Pages have references to actions: these change only with the actions' names, not with their code.
  const sources = changed.filter((key) => actionModule(app, join(root, key)) === undefined)
  const ofPages = (key: string): boolean => after.has(key) || before.has(key) || after.styles.has(key) || isPartial(key)
  const ofServer = sources.filter((key) => !ofPages(key))
  const newStyles = [...after.styles].some((file) => !before.styles.has(file))

  const touched = await renewedModules([...changed, ...importersOfStyles(after, styles)], new Set(sources), modules)
  // Changes that pages cannot apply piece by piece: other data, other assets, a stylesheet without a link.
  if (ofServer.length > 0 || newStyles) return RELOAD

  const plan = planUpdate(after, [...touched.keys()], (key) => {
    const served = modules.served(key)
    return served === undefined || (served.refreshable && touched.get(key) !== false)
  })
  if (plan.kind === 'reload') return RELOAD
  modules.urls.renew(plan.renewed)
  modules.forget(plan.renewed.flatMap((key) => [key, ...after.importersOf(key)]))
  const accepted = plan.accepted.filter((key) => modules.served(key) !== undefined)
  return {
    type: 'update',
    modules: accepted.map((key) => ({ key, url: modules.urls.urlOf(key) })),
    styles: styles.map(stylePath),
  }
}

function importersOfStyles(graph: ModuleGraph, styles: readonly string[]): readonly string[] {
  return styles.flatMap((file) => graph.importersOf(`${CSS_FILE}:${file}`)).filter((key) => !key.startsWith(CSS_FILE))
}

/**
 * Compiles modules that browsers already have, and returns whether each can be refreshed. An unchanged module counts if
 * its compiled form has changed: class names of a stylesheet that it imports, names of actions.
 * @param changed those of them that always count.
 */
async function renewedModules(
  keys: readonly string[],
  changed: ReadonlySet<string>,
  modules: ModuleServer,
): Promise<ReadonlyMap<string, boolean>> {
  const renewed = new Map<string, boolean>()
  modules.forget(keys)
  for (const key of new Set(keys)) {
    const served = modules.served(key)
    if (served === undefined) continue
    const fresh = await modules.compile(key)
    if (changed.has(key) || fresh.code !== served.code) renewed.set(key, fresh.refreshable)
  }
  return renewed
}
