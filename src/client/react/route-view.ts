import type { BoundaryKind, ModuleLoader, SegmentDefinition } from '../../shared/route-definition.ts'
import type { ErrorModule, ErrorProps, FallbackModule, LayoutModule, Metadata, PageModule } from '../module-types.ts'
import type { ModuleCache } from './module-cache.ts'

/** One entry of the matched chain, root first. */
export interface ViewSegment {
  /** The entry's key in the table, groups included. */
  readonly key: string
  readonly definition: SegmentDefinition
}

/** A fallback in the place of the page. */
export interface Outcome {
  readonly kind: BoundaryKind
  /** Index in the chain of the segment whose fallback is shown, inside that segment's own layout. */
  readonly at: number
  /** Names the failure; for `error` only. */
  readonly digest?: string
  /** Of the answer, for `error`; 500 where absent, 0 where there was none. */
  readonly status?: number | undefined
  /** Where it is not `server`; for `error` only. */
  readonly reason?: ErrorProps['reason']
  /** Set where the server was not reached: the failure is the browser's. */
  readonly origin?: 'client'
}

/** All that decides what is on the screen. Equal on the server and in the browser that hydrates its document. */
export interface RouteView {
  readonly chain: readonly ViewSegment[]
  readonly params: RouteParams
  /** Search params as the page's schema gave them, or raw. */
  readonly search: unknown
  /** By segment id (`layoutId`, `pageId`). */
  readonly data: Readonly<Record<string, unknown>>
  /** Absent while the page itself is shown. */
  readonly outcome?: Outcome | undefined
  /** The public origin, for absolute URLs in the head. */
  readonly origin?: string | undefined
}

/** Params of a route, decoded. */
export type RouteParams = Readonly<Record<string, string | readonly string[]>>

/** Names a layout's data in the hydration data and in the route-data protocol. */
export function layoutId(key: string): string {
  return `${key}#layout`
}

/** Names a page's data in the hydration data and in the route-data protocol. */
export function pageId(key: string): string {
  return `${key}#page`
}

/** The segments that are rendered: all of them, or those down to the one whose fallback is shown. */
export function shownChain(view: Pick<RouteView, 'chain' | 'outcome'>): readonly ViewSegment[] {
  return view.outcome === undefined ? view.chain : view.chain.slice(0, view.outcome.at + 1)
}

/** The modules that must be here before the view can be rendered without suspending. */
export function viewModules(view: Pick<RouteView, 'chain' | 'outcome'>): readonly ModuleLoader[] {
  const loaders: (ModuleLoader | undefined)[] = []
  for (const { definition } of shownChain(view)) loaders.push(definition.layout, definition.loading)
  loaders.push(leafModule(view))
  return loaders.filter((loader) => loader !== undefined)
}

/** The loader of what stands innermost: the page, or the fallback in its place. */
export function leafModule(view: Pick<RouteView, 'chain' | 'outcome'>): ModuleLoader | undefined {
  const { chain, outcome } = view
  if (outcome === undefined) return chain.at(-1)?.definition.page
  return chain[outcome.at]?.definition[outcome.kind]
}

/** The metadata of the view, deeper segments over outer ones, title templates applied. */
export function viewMetadata(view: RouteView, modules: ModuleCache): Metadata {
  const { params, search, data, outcome } = view
  const merged: { -readonly [Member in keyof Metadata]: Metadata[Member] } = {}
  let template: string | undefined
  const add = (loader: ModuleLoader | undefined, props: object): void => {
    if (!loader) return
    const { metadata } = modules.get(loader) as LayoutModule | PageModule | FallbackModule | ErrorModule
    const own = typeof metadata === 'function' ? (metadata as (props: object) => Metadata)(props) : metadata
    Object.assign(merged, own)
    const { title } = own ?? {}
    if (typeof title === 'string') merged.title = template?.replace('%s', () => title) ?? title
    else if (title) {
      merged.title = title.default
      template = title.template
    }
  }
  for (const { key, definition } of shownChain(view)) add(definition.layout, { params, data: data[layoutId(key)] })
  add(leafModule(view), { params, search, data: data[pageId(view.chain.at(-1)?.key ?? '')], ...outcome })
  if (outcome) merged.robots = 'noindex'
  return merged
}
