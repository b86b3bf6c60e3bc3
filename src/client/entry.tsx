import { startTransition, type ComponentType } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { controlFlowOf } from '../shared/control-flow.ts'
import type { BoundaryKind } from '../shared/route-definition.ts'
import { createRouteTable, type RouteTable, type SegmentEntry } from '../shared/route-table.ts'
import type { HandOffState } from '../shared/protocol/hand-off.ts'
import { readHandOff } from './core/read-hand-off.ts'
import type { DocumentProps, TypedSegment } from './module-types.ts'
import { createModuleCache } from './react/module-cache.ts'
import { viewModules, type RouteView } from './react/route-view.ts'
import { startRouter } from './start-router.tsx'

/** What an application's `client.tsx` hands over. */
export interface HydrateOptions {
  /** The same table that the server has. */
  readonly routes: Readonly<Record<string, TypedSegment>>
  /** The same document component that the server renders. */
  readonly document: ComponentType<DocumentProps>
}

/**
 * Makes the document that the server sent alive. It may start while parts of the document are still on their way:
 * React waits for those holes one by one. From then on links are followed by the client router.
 */
export async function hydrate({ routes, document: Document }: HydrateOptions): Promise<void> {
  const handOff = readHandOff(document)
  if (handOff === undefined) return
  const { state } = handOff
  const modules = createModuleCache()
  const table = createRouteTable(routes)
  const shape = { chain: chainOf(table, state), ...outcomeOf(state) }
  const [values] = await Promise.all([handOff.values, modules.load(viewModules(shape))])
  const view: RouteView = {
    ...shape,
    params: state.params,
    search: values.search,
    data: values.data,
    ...(state.origin === undefined ? {} : { origin: state.origin }),
  }
  const router = startRouter({ window, table, document: Document, modules, state, view })
  startTransition(() => {
    const root = hydrateRoot(document, router.tree, {
      onCaughtError: (thrown) => isFailure(thrown) && console.error(thrown),
      onUncaughtError: (thrown) => isFailure(thrown) && reportError(thrown),
      onRecoverableError: (thrown) => isFailure(thrown) && reportError(thrown),
    })
    router.attach(root)
  })
}

/** Control flow takes React's error channel, and has no place on the console. */
function isFailure(thrown: unknown): boolean {
  return controlFlowOf(thrown) === undefined
}

function chainOf(table: RouteTable, { route }: HandOffState): readonly SegmentEntry[] {
  if (route === null) return table.root === undefined ? [] : [table.root]
  return table.routes.find(({ key }) => key === route)?.chain ?? []
}

function outcomeOf({ outcome }: HandOffState): Pick<RouteView, 'outcome'> {
  if (outcome === undefined) return {}
  return { outcome: { ...outcome, kind: outcome.kind as BoundaryKind } }
}
