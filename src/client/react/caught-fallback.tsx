import type { ComponentType, ReactNode } from 'react'
import { controlFlowOf, digestOf, RedirectSignal } from '../../shared/control-flow.ts'
import type { BoundaryKind } from '../../shared/route-definition.ts'
import type { RouteLoadError } from './router-errors.ts'
import type { ErrorProps } from '../module-types.ts'
import { type BoundaryProps } from './router-types.ts'
import { ServerFailure, Tell } from './boundaries.tsx'
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
  const why = kind === 'error' ? reasonOf(value) : {}
  const shape = { chain, outcome: { kind, at, ...why } }
  if (at < 0) shown(shape, visit)
  const loader = leafModule(shape)
  if (!loader) return undefined
  await load(shape).catch(() => undefined)
  const Fallback = (modules.get(loader) as { readonly default: ComponentType<Partial<ErrorProps>> } | undefined)
    ?.default
  if (!Fallback) return undefined
  const props =
    kind === 'error' &&
    ({
      origin: value instanceof ServerFailure ? 'server' : 'client',
      digest: digestOf(value),
      ...why,
      // Always loads the whole page again: an interrupted answer of the server looks the same as a failure of the
      // page's own code.
      retry: onRetry,
    } as ErrorProps)
  return (
    <>
      <Fallback {...props} />
      <Tell router={() => shown(shape, visit)} />
    </>
  )
}

const CRASH = { reason: 'crash' } as const

/** Props of an error page for a thrown value. */
function reasonOf(value: unknown): Pick<Outcome, 'reason' | 'status'> {
  // By its name: another part of the application may have its own copy of the class.
  const { name, reason, status } = Object(value) as Partial<RouteLoadError>
  if (!(value instanceof ServerFailure) && name !== 'RouteLoadError') return CRASH
  return { reason: reason ?? (digestOf(value) ? 'server' : 'offline'), status }
}
