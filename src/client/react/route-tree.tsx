import type { SegmentDefinition } from '../../shared/route-definition.ts'
import { Suspense, type ComponentType, type ReactNode } from 'react'
import type {
  DocumentProps,
  ErrorModule,
  ErrorProps,
  FallbackModule,
  LayoutModule,
  Metadata,
  PageModule,
} from '../module-types.ts'
import { ViewContext } from './contexts.ts'
import { HeadTags } from './head-tags.tsx'
import type { ModuleCache } from './module-cache.ts'
import { layoutId, leafId, leafModule, shownChain, type RouteView } from './route-view.ts'
import { SegmentBoundary } from './boundaries.tsx'

/** Input of one render of the whole document. */
interface RouteTreeInput {
  readonly document: ComponentType<DocumentProps>
  readonly view: RouteView
  /** Contains every module of `viewModules(view)`. */
  readonly modules: ModuleCache
  /** From `viewMetadata`. */
  readonly metadata: Metadata
  /** Absent on the server, which renders once. */
  readonly client?: ClientTree
}

/** Parts that let a tree change into another one. */
interface ClientTree {
  /** Error boundaries reset when it changes. */
  readonly visit: number
  /** Identifies an instance of a segment: with other params of its own, a segment is another instance. */
  keyOf(segmentId: string): string
  /** Reloads the data of the page. */
  retry(): void
}

/**
 * The tree of a document, the same on the server and in the browser: a pure function of its input, built from the
 * innermost node outwards, so that it adds little cost to the application's components.
 */
export function routeTree({ document: Document, view, modules, metadata, client }: RouteTreeInput): ReactNode {
  const chain = shownChain(view)
  let key = client?.keyOf(leafId(view))
  const node = chain.reduceRight(
    (inside, { key: segment, definition }, at) => {
      const { layout, loading } = definition
      let node = inside
      if (loading) {
        const Loading = (modules.get(loading) as FallbackModule).default
        node = (
          <Suspense key={key} fallback={<Loading />}>
            {node}
          </Suspense>
        )
      }
      if (hasBoundary(definition)) {
        node = (
          <SegmentBoundary chain={chain} at={at} visit={client?.visit} onRetry={client?.retry}>
            {node}
          </SegmentBoundary>
        )
      }
      if (!layout) return node
      const Layout = (modules.get(layout) as LayoutModule).default as ComponentType<AnyProps>
      const id = layoutId(segment)
      key = client?.keyOf(id)
      return (
        <Layout key={key} params={view.params} data={view.data[id]}>
          {node}
        </Layout>
      )
    },
    leafNode(view, modules, key, client),
  )
  return (
    <ViewContext value={view}>
      <Document head={<HeadTags metadata={metadata} origin={view.origin} />}>
        <SegmentBoundary chain={chain} at={-1} visit={client?.visit}>
          {node}
        </SegmentBoundary>
      </Document>
    </ViewContext>
  )
}

/** The table types each page and layout by its own pattern; here they are all treated alike. */
type AnyProps = Readonly<Record<string, unknown>>

function leafNode(
  view: RouteView,
  modules: ModuleCache,
  key: string | undefined,
  client: ClientTree | undefined,
): ReactNode {
  const leaf = leafModule(view)
  if (!leaf) return null
  const Leaf = (modules.get(leaf) as PageModule | FallbackModule | ErrorModule).default as ComponentType<AnyProps>
  const render = (props: AnyProps): ReactNode => <Leaf key={key} {...props} />
  const { params, search, outcome } = view
  if (!outcome) {
    const data = view.data[leafId(view)]
    if (!(data instanceof Promise)) return render({ params, search, data })
    // Of a document that does not wait for it: the page keeps its state when its data is loaded again, and is not a
    // promise then. Only a thenable, because a promise would be unhandled if React never asks for it.
    const later: LaterNode = {
      // oxlint-disable-next-line unicorn/no-thenable -- React alone awaits it
      then: (show, fail) => void data.then((value) => show(render({ params, search, data: value })), fail),
    }
    return later as unknown as ReactNode
  }
  if (outcome.kind !== 'error') return render({})
  const { origin = 'server', digest, reason = 'server', status = 500 } = outcome
  const retry = client?.retry ?? doNothing
  return render({ origin, reason, digest, status: status || undefined, retry } satisfies Partial<
    Record<keyof ErrorProps, unknown>
  >)
}

/** What React waits for in the place of a node. */
interface LaterNode {
  then(show: (node: ReactNode) => void, fail: (reason: unknown) => void): void
}

function doNothing(): void {}

function hasBoundary({ error, notFound, forbidden, unauthorized }: SegmentDefinition): boolean {
  return !!(error ?? notFound ?? forbidden ?? unauthorized)
}
