import { SERVER_KINDS } from '../output/asset-manifest.ts'
import { BuildFault } from '../build-fault.ts'
import { entryPlace } from './entry-places.ts'
import type { RouteSources } from './inspect-application.ts'
import { isServerModule } from '../sides/server-wall.ts'

/**
 * Checks that the names of the table's modules fit the side that loads them. The server wall judges by names: a loader
 * without a server module's name would be sent to browsers with all its code.
 * @param app the application's folder.
 * @throws {BuildFault} for the first misnamed module.
 */
export function checkTableModules(
  context: { readonly root: string; readonly app: string },
  sources: RouteSources,
): void {
  for (const [pattern, kinds] of Object.entries(sources)) {
    for (const [kind, source] of Object.entries(kinds)) {
      if (SERVER_KINDS.has(kind) === isServerModule(source)) continue
      const what = `${source} is the ${kind} of '${pattern}'`
      throw new BuildFault(
        SERVER_KINDS.has(kind)
          ? `${what}, and its code would reach the browser: a module that only the server may load has a name that ends in .server.ts. Rename it.`
          : `${what}, which browsers load, but *.server.* modules never reach them. Use a module with a component, or rename this one.`,
        entryPlace(context, pattern, kind),
      )
    }
  }
}
