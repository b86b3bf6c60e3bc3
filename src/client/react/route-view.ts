import type { BoundaryKind, ModuleLoader, SegmentDefinition } from '../../shared/route-definition.ts'
import type { ErrorModule, ErrorProps, FallbackModule, LayoutModule, Metadata, PageModule } from '../module-types.ts'
import type { ModuleCache } from './module-cache.ts'

/** One entry of the matched chain, root first. */
export interface ViewSegment {
  /** The entry's key in the table, groups included. */
  readonly key: string
  readonly definition: SegmentDefinition
}

/** A fallback that replaces the page. */
export interface Outcome {
  readonly kind: BoundaryKind
  /** Index in the chain of the segment whose fallback is shown, inside that segment's own layout. */
  readonly at: number
  /** Identifies the failure; for `error` only. */
  readonly digest?: string
  /** Of the answer, for `error`; absent means 500, 0 means no answer. */
  readonly status?: number | undefined
  /** If not `server`; for `error` only. */
  readonly reason?: ErrorProps['reason']
  /** Set if the server was not reached: the failure is the browser's. */
  readonly origin?: 'client'
}

/** Path and query of a page, in the table's terms: percent-encoded, without the base path. */
export interface ViewLocation {
  readonly pathname: string
  /** `''` or with its question mark. On the server, reading it makes the document depend on the whole query. */
  readonly search: string
  /** `''` or with its `#`; absent on the server, which never gets it. */
  readonly hash?: string
}

/** Everything that determines the screen. Equal on the server and in the browser that hydrates its document. */
export interface RouteView {
  readonly chain: readonly ViewSegment[]
  readonly params: RouteParams
  /** Search params after the page's schema, or raw. */
  readonly search: unknown
  /** By segment id (`layoutId`, `pageId`). */
  readonly data: Readonly<Record<string, unknown>>
  /** Absent while the page itself is shown. */
  readonly outcome?: Outcome | undefined
  /** The public origin, for absolute URLs in the head. */
  readonly origin?: string | undefined
  /** Absent in the browser for the page of the document, whose location the router has. */
  readonly location?: ViewLocation
}

/** Params of a route, decoded. */
export type RouteParams = Readonly<Record<string, string | readonly string[]>>

/** Id of a layout's data in the hydration data and in the route data protocol. */
export function layoutId(key: string): string {
  return `${key}#layout`
}

/** Id of a page's data in the hydration data and in the route data protocol. */
export function pageId(key: string): string {
  return `${key}#page`
}

/** Id of the innermost element: of the page's data, or a fallback's own. */
export function leafId({ chain, outcome }: Pick<RouteView, 'chain' | 'outcome'>): string {
  return outcome ? `${chain[outcome.at]?.key ?? ''}#${outcome.kind}` : pageId(chain.at(-1)?.key ?? '')
}

/** The rendered segments: all of them, or those down to the one whose fallback is shown. */
export function shownChain(view: Pick<RouteView, 'chain' | 'outcome'>): readonly ViewSegment[] {
  return view.chain.slice(0, view.outcome && view.outcome.at + 1)
}

/** The modules that must be loaded before the view can be rendered without suspending. */
export function viewModules(view: Pick<RouteView, 'chain' | 'outcome'>): readonly ModuleLoader[] {
  const loaders: (ModuleLoader | undefined)[] = []
  for (const { definition } of shownChain(view)) loaders.push(definition.layout, definition.loading)
  loaders.push(leafModule(view))
  return loaders.filter((loader) => loader !== undefined)
}

/** The loader of the innermost module: the page, or the fallback that replaces it. */
export function leafModule(view: Pick<RouteView, 'chain' | 'outcome'>): ModuleLoader | undefined {
  const { chain, outcome } = view
  if (outcome === undefined) return chain.at(-1)?.definition.page
  return chain[outcome.at]?.definition[outcome.kind]
}

/** The metadata of the view, deeper segments over outer ones, title templates applied. */
export function viewMetadata(view: RouteView, modules: ModuleCache): Metadata {
  const { params, search, data, outcome } = view
  const merged: { title?: string; robots?: string; [name: string]: unknown } = {}
  let template: string | undefined
  const add = (loader: ModuleLoader | undefined, props: object): void => {
    if (!loader) return
    const { metadata } = modules.get(loader) as LayoutModule | PageModule | FallbackModule | ErrorModule
    const own = typeof metadata === 'function' ? (metadata as (props: object) => Metadata)(props) : metadata
    for (const name in own) merged[name] = own[name as keyof Metadata] ?? merged[name]
    const title = own?.title
    if (typeof title === 'string') merged.title = template?.replace('%s', () => title) ?? title
    else if (title) {
      merged.title = title.default
      template = title.template
    }
  }
  for (const { key, definition } of shownChain(view)) add(definition.layout, { params, data: data[layoutId(key)] })
  add(leafModule(view), { params, search, data: data[leafId(view)], ...outcome })
  if (outcome) merged.robots = 'noindex'
  return merged as Metadata
}
