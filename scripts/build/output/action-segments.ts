import type { Metafile } from 'esbuild'
import { layoutId, pageId } from '../../../src/client/react/route-view.ts'
import { ACTION_REFERENCES } from '../esbuild-messages.ts'
import type { RouteSources } from '../project/inspect-application.ts'

/**
 * The segments of a table whose modules import an action, directly or indirectly: their pages accept `POST`.
 * @param metafile of the browser's scripts, where actions are references.
 * @param entry key of the browser's entry. If the document itself has an action, all pages do.
 */
export function actionSegments({ inputs }: Metafile, entry: string, sources: RouteSources): readonly string[] {
  const inDocument = importsAction(inputs, entry, ['import-statement'])
  return Object.entries(sources).flatMap(([pattern, { page, layout }]) => [
    ...(layout !== undefined && importsAction(inputs, layout) ? [layoutId(pattern)] : []),
    ...(page !== undefined && (inDocument || importsAction(inputs, page)) ? [pageId(pattern)] : []),
  ])
}

/** @param kinds of imports to follow: the entry imports all pages dynamically. */
function importsAction(
  inputs: Metafile['inputs'],
  from: string,
  kinds: readonly string[] = ['import-statement', 'dynamic-import', 'require-call'],
): boolean {
  const reached = new Set([from])
  for (const key of reached) {
    if (key.startsWith(`${ACTION_REFERENCES}:`)) return true
    for (const { path, kind } of inputs[key]?.imports ?? []) if (kinds.includes(kind)) reached.add(path)
  }
  return false
}
