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
import { layoutId, leafModule, pageId, shownChain, type RouteView } from './route-view.ts'
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
  let key = client?.keyOf(leafId(view))
  let node = leafNode(view, modules, key, client)
  const chain = shownChain(view)
  for (let at = chain.length - 1; at >= 0; at -= 1) {
    const segment = chain[at]
    if (!segment) continue
    const { definition } = segment
    const { layout, loading } = definition
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
    if (layout) {
      const Layout = (modules.get(layout) as LayoutModule).default as ComponentType<AnyProps>
      const id = layoutId(segment.key)
      key = client?.keyOf(id)
      node = (
        <Layout key={key} params={view.params} data={view.data[id]}>
          {node}
        </Layout>
      )
    }
  }
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

/** Id of the innermost element. */
function leafId({ chain, outcome }: RouteView): string {
  if (outcome === undefined) return pageId(chain.at(-1)?.key ?? '')
  return `${chain[outcome.at]?.key ?? ''}#${outcome.kind}`
}

function leafNode(
  view: RouteView,
  modules: ModuleCache,
  key: string | undefined,
  client: ClientTree | undefined,
): ReactNode {
  const leaf = leafModule(view)
  if (!leaf) return null
  const Leaf = (modules.get(leaf) as PageModule | FallbackModule | ErrorModule).default as ComponentType<AnyProps>
  const { params, search, data, outcome } = view
  if (!outcome) return <Leaf key={key} params={params} search={search} data={data[leafId(view)]} />
  if (outcome.kind !== 'error') return <Leaf key={key} />
  const { origin = 'server', digest, reason = 'server', status = 500 } = outcome
  const props = { origin, reason, digest, status: status || undefined, retry: client?.retry ?? doNothing }
  return <Leaf key={key} {...(props satisfies Partial<Record<keyof ErrorProps, unknown>>)} />
}

function doNothing(): void {}

function hasBoundary({ error, notFound, forbidden, unauthorized }: SegmentDefinition): boolean {
  return !!(error ?? notFound ?? forbidden ?? unauthorized)
}
