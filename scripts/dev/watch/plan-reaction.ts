import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import type { DevMessage } from '../../../src/client/dev/dev-messages.ts'
import { actionModule } from '../../build/sides/action-modules.ts'
import { CSS_FILE, STYLE } from '../../build/assets/css-files.ts'
import { displayPath } from '../../build/build-options.ts'
import type { DevGeneration } from '../compile/dev-build.ts'
import { moduleGraph, planUpdate, type ModuleGraph } from './hot-update.ts'
import { stylePath, type ModuleServer } from '../compile/module-server.ts'

const RELOAD: readonly DevMessage[] = [{ type: 'reload' }]
const SOURCE = /\.[cm]?[jt]sx?$/

const REFRESH: DevMessage = { type: 'refresh' }

/** The application's files that only a new document shows: rules and middleware, the table, what is around pages. */
const OF_DOCUMENTS = new Set(['app.ts', 'routes.ts', 'document.tsx', 'client.tsx'])

/**
 * Plans the update of open pages after a change, and gives new URLs to the modules that they must reload.
 * @param previous the state that they run; `next` is the new one.
 * @param changed paths in the project of the files that differ.
 * @returns messages for pages, in this order.
 */
export async function planReaction(
  previous: DevGeneration,
  next: DevGeneration,
  changed: readonly string[],
  modules: ModuleServer,
): Promise<readonly DevMessage[]> {
  const [before, after] = [moduleGraph(previous.browser), moduleGraph(next.browser)]
  const { root, app } = next.context
  const madeFrom = (key: string) => next.reads.usersOf(join(root, key)).map((file) => displayPath(root, file))
  const styles = [...new Set([...changed, ...changed.flatMap(madeFrom)])].filter((key) => after.styles.has(key))
  const isPartial = (key: string): boolean => STYLE.test(key) && madeFrom(key).length > 0
  // Pages have references to actions: these change only with the actions' names, not with their code.
  const sources = changed.filter((key) => actionModule(app, join(root, key)) === undefined)
  const ofPages = (key: string): boolean => after.has(key) || before.has(key) || after.styles.has(key) || isPartial(key)
  const ofServer = sources.filter((key) => !ofPages(key))
  const newStyles = [...after.styles].some((file) => !before.styles.has(file))

  const inlined = [...changed, ...changed.flatMap(madeFrom)]
    .flatMap((file) => after.madeOf(file))
    .filter((key) => !SOURCE.test(key))
  const touchable = [...changed, ...importersOfStyles(after, styles), ...rewired(previous.browser, next.browser)]
  const touched = await renewedModules(touchable, new Set(sources), modules)
  // What pages cannot apply piece by piece: images, texts and workers, another table, a stylesheet without a link.
  const isMade = changed.some((key) => next.fileUrls.isMadeFrom(join(root, key)))
  if (isMade || inlined.length > 0 || ofServer.some((key) => !SOURCE.test(key))) {
    modules.forgetAll() // the URL of an image is part of the modules that import it, and so are modules that a plugin makes
    return RELOAD
  }
  if (newStyles || changed.some((key) => OF_DOCUMENTS.has(displayPath(app, join(root, key))))) return RELOAD

  const plan = planUpdate(after, [...touched.keys()], (key) => {
    const served = modules.served(key)
    return served === undefined || (served.refreshable && touched.get(key) !== false)
  })
  if (plan.kind === 'reload') return RELOAD
  modules.urls.renew(plan.renewed)
  modules.forget(plan.renewed.flatMap((key) => [key, ...after.importersOf(key)]))
  const accepted = plan.accepted.filter((key) => modules.served(key) !== undefined)
  const update: DevMessage = {
    type: 'update',
    modules: accepted.map((key) => ({ key, url: modules.urls.urlOf(key) })),
    styles: styles.map((file) => modules.urls.publicPath(stylePath(file))),
  }
  // Loaders may use what is not a component.
  const ofBoth = sources.some((key) => after.has(key) && modules.served(key)?.refreshable === false)
  if (!ofBoth && ofServer.length === 0) return [update]
  return update.modules.length > 0 || update.styles.length > 0 ? [update, REFRESH] : [REFRESH]
}

/** Modules whose imports lead to other files, also where their text is the same: a new file may hide another one. */
function rewired({ inputs: previous }: Metafile, { inputs }: Metafile): readonly string[] {
  if (previous === inputs) return []
  const isRewired = ([key, { imports }]: readonly [string, Metafile['inputs'][string]]): boolean => {
    const before = previous[key]?.imports
    return (
      before !== undefined && before.map(({ path }) => path).join('\n') !== imports.map(({ path }) => path).join('\n')
    )
  }
  return Object.entries(inputs)
    .filter(isRewired)
    .map(([key]) => key)
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
