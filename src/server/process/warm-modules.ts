import type { Logger } from 'pino'
import type { ModuleCache } from '../../client/react/module-cache.ts'
import { segmentModules, type ModuleLoader } from '../../shared/route-definition.ts'
import type { RouteTable } from '../../shared/route-table.ts'

/** Result of `warmModules`. */
export interface WarmModules {
  /** Whether the home page, or an entry around it, has a module that cannot be loaded. */
  readonly homeFails: boolean
}

/** Members of the root's entry that every page needs. */
const OF_ALL_PAGES: ReadonlySet<string> = new Set(['layout', 'layoutLoader', 'guard'])

/**
 * Loads every module of the table. One that fails makes its own routes fail, and is logged.
 * @throws what the layout of the root's entry throws, or its server modules: no page can be rendered.
 */
export async function warmModules(table: RouteTable, modules: ModuleCache, log: Logger): Promise<WarmModules> {
  const entries = new Set([...(table.root === undefined ? [] : [table.root]), ...table.routes.flatMap(chainOf)])
  const failed = new Set<ModuleLoader>()
  const works = Array.from(entries).flatMap(({ key, definition }) =>
    Object.entries(definition).map(async ([member, loader]: readonly [string, unknown]) => {
      if (!isLoader(loader)) return
      try {
        await modules.load([loader])
      } catch (error) {
        if (key === '/' && OF_ALL_PAGES.has(member)) throw error
        failed.add(loader)
        const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined }
        log.error({ route: key, member, err: { message, stack } }, 'a module of the table cannot be loaded')
      }
    }),
  )
  await Promise.all(works)
  const home = table.match('/')?.route.chain ?? []
  return { homeFails: home.some(({ definition }) => segmentModules(definition).some((loader) => failed.has(loader))) }
}

/** Entries have settings too: lists of params. */
function isLoader(member: unknown): member is ModuleLoader {
  return typeof member === 'function'
}

function chainOf({ chain }: RouteTable['routes'][number]): RouteTable['routes'][number]['chain'] {
  return chain
}
