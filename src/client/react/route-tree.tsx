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
import { HeadTags } from './head-tags.tsx'
import type { ModuleCache } from './module-cache.ts'
import { layoutId, leafModule, pageId, shownChain, type RouteView } from './route-view.ts'
import { RootBoundary, SegmentBoundary } from './boundaries.tsx'

/** What one render of the whole document needs. */
export interface RouteTreeInput {
  readonly document: ComponentType<DocumentProps>
  readonly view: RouteView
  /** Holds every module that `viewModules(view)` names. */
  readonly modules: ModuleCache
  /** From `viewMetadata`. */
  readonly metadata: Metadata
}

/**
 * The tree of a document, the same on the server and in the browser: a plain function of its input, built from the
 * innermost node outwards, so that it costs the components of the application and hardly more.
 */
export function routeTree({ document: Document, view, modules, metadata }: RouteTreeInput): ReactNode {
  let node = leafNode(view, modules)
  const chain = shownChain(view)
  for (let at = chain.length - 1; at >= 0; at -= 1) {
    const segment = chain[at]
    if (segment === undefined) continue
    const { definition, key } = segment
    if (definition.loading !== undefined) {
      const Loading = (modules.get(definition.loading) as FallbackModule).default
      node = <Suspense fallback={<Loading />}>{node}</Suspense>
    }
    if (hasBoundary(definition)) node = <SegmentBoundary definition={definition}>{node}</SegmentBoundary>
    if (definition.layout !== undefined) {
      const Layout = (modules.get(definition.layout) as LayoutModule).default as ComponentType<AnyProps>
      node = (
        <Layout params={view.params} data={view.data[layoutId(key)]}>
          {node}
        </Layout>
      )
    }
  }
  return (
    <Document head={<HeadTags metadata={metadata} origin={view.origin} />}>
      <RootBoundary>{node}</RootBoundary>
    </Document>
  )
}

/** The table types each page and layout by its own pattern; here they are all taken alike. */
type AnyProps = Readonly<Record<string, unknown>>

function leafNode(view: RouteView, modules: ModuleCache): ReactNode {
  const leaf = leafModule(view)
  if (leaf === undefined) return null
  const { outcome } = view
  if (outcome === undefined) {
    const Page = (modules.get(leaf) as PageModule).default as ComponentType<AnyProps>
    const key = view.chain.at(-1)?.key ?? ''
    return <Page params={view.params} search={view.search} data={view.data[pageId(key)]} />
  }
  if (outcome.kind === 'error') {
    const ErrorPage = (modules.get(leaf) as ErrorModule).default
    const props: ErrorProps = { origin: 'server', retry: reloadDocument }
    return <ErrorPage {...props} {...(outcome.digest === undefined ? {} : { digest: outcome.digest })} />
  }
  const Fallback = (modules.get(leaf) as FallbackModule).default
  return <Fallback />
}

function hasBoundary(definition: RouteView['chain'][number]['definition']): boolean {
  return (
    definition.error !== undefined ||
    definition.notFound !== undefined ||
    definition.forbidden !== undefined ||
    definition.unauthorized !== undefined
  )
}

function reloadDocument(): void {
  const { location } = globalThis as { location?: { reload(): void } }
  location?.reload()
}
