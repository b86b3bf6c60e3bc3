import { Component, type ComponentType, type ReactNode } from 'react'
import { controlFlowOf, RedirectSignal } from '../../shared/control-flow.ts'
import type { BoundaryKind } from '../../shared/route-definition.ts'
import type { ErrorProps } from '../module-types.ts'
import { type BoundaryProps } from './router-types.ts'
import { failureProps } from './failure-props.ts'
import type { ModuleCache } from './module-cache.ts'
import { leafModule, type Outcome, type RouteView } from './route-view.ts'

/** The router's part in showing a fallback in the browser. */
export interface FallbackHost {
  readonly modules: Pick<ModuleCache, 'get'>
  /** Loads code and styles; rejects if some of it does not load. */
  load(shape: Pick<RouteView, 'chain' | 'outcome'>): Promise<void>
  redirect(to: string, external: boolean): void
  /** Called when the fallback is in the document: styles, title, focus and announcement follow. */
  shown(shape: Pick<RouteView, 'chain'> & { readonly outcome: Outcome }, visit: number | undefined): void
}

/**
 * Creates the fallback of a boundary for a thrown value. It is shown even without its styles.
 * @returns `undefined` if the boundary has no fallback of this kind, or it does not load. The last resort, which is
 * already in the document, is reported like a fallback.
 */
export async function caughtFallback(
  { modules, load, redirect, shown }: FallbackHost,
  { at, chain, onRetry, visit }: BoundaryProps,
  value: unknown,
): Promise<ReactNode> {
  const signal = controlFlowOf(value)
  if (signal instanceof RedirectSignal) {
    redirect(signal.to, signal.external)
    return new Promise(() => undefined) // the page is being left
  }
  const kind: BoundaryKind = signal?.kind ?? 'error'
  const failure = kind === 'error' && failureProps(value)
  const shape = { chain, outcome: { kind, at, ...(failure && { reason: failure.reason, status: failure.status }) } }
  if (at < 0) shown(shape, visit)
  const loader = leafModule(shape)
  if (!loader) return undefined
  await load(shape).catch(() => undefined)
  const Fallback = (modules.get(loader) as { readonly default: ComponentType<Partial<ErrorProps>> } | undefined)
    ?.default
  if (!Fallback) return undefined
  // Its `retry` always loads the whole page again: an interrupted answer of the server looks the same as a failure of
  // the page's own code.
  const props = failure && ({ ...failure, retry: onRetry } as ErrorProps)
  return (
    <>
      <Fallback {...props} />
      <Tell mounted={() => shown(shape, visit)} />
    </>
  )
}

/** Calls back once the fallback is in the document. */
class Tell extends Component<{ readonly mounted: () => void }> {
  override componentDidMount(): void {
    this.props.mounted()
  }

  override render(): ReactNode {
    return null
  }
}
