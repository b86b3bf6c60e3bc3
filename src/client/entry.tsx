import { startTransition, type ComponentType } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { controlFlowOf } from '../shared/control-flow.ts'
import type { BoundaryKind } from '../shared/route-definition.ts'
import { createRouteTable, type SegmentEntry } from '../shared/route-table.ts'
import type { HandOffState } from '../shared/protocol/hand-off.ts'
import { readHandOff } from './core/read-hand-off.ts'
import type { DocumentProps, TypedSegment } from './module-types.ts'
import { createModuleCache } from './react/module-cache.ts'
import { routeTree } from './react/route-tree.tsx'
import { viewMetadata, viewModules, type RouteView } from './react/route-view.ts'

/** What an application's `client.tsx` hands over. */
export interface HydrateOptions {
  /** The same table that the server has. */
  readonly routes: Readonly<Record<string, TypedSegment>>
  /** The same document component that the server renders. */
  readonly document: ComponentType<DocumentProps>
}

/**
 * Makes the document that the server sent alive. It may start while parts of the document are still on their way:
 * React waits for those holes one by one.
 */
export async function hydrate({ routes, document: Document }: HydrateOptions): Promise<void> {
  const handOff = readHandOff(document)
  if (handOff === undefined) return
  const { state } = handOff
  const modules = createModuleCache()
  const shape = { chain: chainOf(routes, state), ...outcomeOf(state) }
  const [values] = await Promise.all([handOff.values, modules.load(viewModules(shape))])
  const view: RouteView = {
    ...shape,
    params: state.params,
    search: values.search,
    data: values.data,
    ...(state.origin === undefined ? {} : { origin: state.origin }),
  }
  const metadata = viewMetadata(view, modules)
  startTransition(() => {
    hydrateRoot(document, routeTree({ document: Document, view, modules, metadata }), {
      onCaughtError: (thrown) => isFailure(thrown) && console.error(thrown),
      onUncaughtError: (thrown) => isFailure(thrown) && reportError(thrown),
      onRecoverableError: (thrown) => isFailure(thrown) && reportError(thrown),
    })
  })
}

/** Control flow takes React's error channel, and has no place on the console. */
function isFailure(thrown: unknown): boolean {
  return controlFlowOf(thrown) === undefined
}

function chainOf(routes: HydrateOptions['routes'], { route }: HandOffState): readonly SegmentEntry[] {
  const table = createRouteTable(routes)
  if (route === null) return table.root === undefined ? [] : [table.root]
  return table.routes.find(({ key }) => key === route)?.chain ?? []
}

function outcomeOf({ outcome }: HandOffState): Pick<RouteView, 'outcome'> {
  if (outcome === undefined) return {}
  return { outcome: { ...outcome, kind: outcome.kind as BoundaryKind } }
}
