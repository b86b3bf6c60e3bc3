import type { HydrationState } from '../../../shared/protocol/hydration-data.ts'
import type { RouteTable } from '../../../shared/route-table.ts'
import type { CompiledRules } from '../../../shared/rules/compile-rules.ts'
import { readRulePath } from '../../../shared/rules/rule-path.ts'

/**
 * The routes without loaders about whose URLs the server may decide something that the table does not say: a guard's
 * verdict, a redirect, another route, another origin. The client router asks for these nevertheless.
 * @param isDecidedBefore whether middleware, or another server, sees requests before the table.
 * @returns their keys; `undefined` for all routes.
 */
export function askedRoutes(
  { routes }: Pick<RouteTable, 'routes'>,
  { redirects, beforeFiles, afterFiles }: CompiledRules,
  isDecidedBefore: boolean,
): HydrationState['asks'] {
  if (isDecidedBefore) return undefined
  // Pages without params precede `afterFiles`, all pages precede `fallback`.
  const early = [redirects, beforeFiles]
  return routes
    .filter(({ chain, definition, kind, pattern, dynamic }) => {
      // Its links load documents.
      if (kind === 'handler') return false
      if (definition.loader !== undefined || chain.some((entry) => entry.definition.layoutLoader)) return false
      if (chain.some((entry) => 'guard' in entry.definition)) return true
      if (dynamic) return [...early, afterFiles].some(({ size }) => size > 0)
      const path = readRulePath(encodeURI(pattern))
      return early.some((rules) => rules.concerns(path))
    })
    .map(({ key }) => key)
}
