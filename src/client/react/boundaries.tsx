import { Component, lazy, Suspense, type ComponentType, type ReactNode } from 'react'
import { controlFlowOf, digestOf, RedirectSignal } from '../../shared/control-flow.ts'
import type { BoundaryKind, ModuleLoader, SegmentDefinition } from '../../shared/route-definition.ts'
import type { RouteLoadError } from '../core/router-errors.ts'
import type { ErrorProps } from '../module-types.ts'
import type { BoundaryRouter } from '../router-types.ts'
import { RouterContext } from './contexts.ts'

interface CaughtState {
  readonly thrown?: { readonly value: unknown } | undefined
  readonly visit?: number | undefined
}

interface BoundaryProps {
  /** Whose fallbacks it shows; absent for the last resort inside the document, a fixed text. */
  readonly definition?: SegmentDefinition
  /** Another one than before means another navigation: what was caught belongs to the page that was left. */
  readonly visit: number | undefined
  readonly onRetry?: (() => void) | undefined
  readonly children: ReactNode
}

/**
 * Shows a segment's own fallback when something inside its layout throws in the browser, and passes on what it has no
 * fallback for. React runs no error boundary on the server: there the runtime picks the fallback before it renders.
 */
export class SegmentBoundary extends Component<BoundaryProps, CaughtState> {
  override state: CaughtState = {}

  static getDerivedStateFromError(thrown: unknown): CaughtState {
    return { thrown: { value: thrown } }
  }

  static getDerivedStateFromProps({ visit }: BoundaryProps, state: CaughtState): CaughtState | null {
    return visit === state.visit ? null : { visit, thrown: undefined }
  }

  /**
   * Asks for the page anew, whatever has failed: what was read of the server may have broken off, and nothing tells that
   * from a failure of the page's own.
   */
  readonly #retry = (): void => {
    const { onRetry } = this.props
    if (onRetry) onRetry()
    else this.setState({ thrown: undefined })
  }

  override render(): ReactNode {
    const { thrown } = this.state
    const { children, definition, visit } = this.props
    if (thrown === undefined) return children
    const { value } = thrown
    const signal = controlFlowOf(value)
    if (signal instanceof RedirectSignal) {
      const { to, external } = signal
      return <Tell router={(router) => router.redirect(to, external)} />
    }
    const origin: ErrorProps['origin'] = value instanceof ServerFailure ? 'server' : 'client'
    const digest = digestOf(value)
    // By its name: the class is loaded later than this.
    const { name, reason = digest ? 'server' : 'offline', status } = Object(value) as Partial<RouteLoadError>
    const isLost = origin === 'server' || name === 'RouteLoadError'
    const kind: BoundaryKind = signal?.kind ?? 'error'
    const why = isLost ? { reason, status } : CRASH
    const told = <Tell router={(router) => router.caught(kind, visit, definition, why)} />
    if (definition === undefined) {
      return (
        <main>
          {told}
          <h1 data-testid="error">{`Application error: a ${origin}-side exception has occurred`}</h1>
          {digest === undefined ? null : <p data-testid="digest">{`Digest: ${digest}`}</p>}
        </main>
      )
    }
    const loader = definition[kind]
    if (loader === undefined) throw value
    const Fallback = lazyFallback(loader)
    const props = kind === 'error' && ({ origin, digest, ...why, retry: this.#retry } as ErrorProps)
    return (
      <Suspense fallback={null}>
        <Fallback {...props} />
        {told}
      </Suspense>
    )
  }
}

const CRASH = { reason: 'crash' } as const

/** A failure of the server, of which the browser learns its digest, or nothing where the answer has broken off. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure'
  readonly digest: string | undefined
  /** Of the answer; absent where that had begun before it failed. */
  declare readonly status?: number

  constructor(digest?: string) {
    super(`The server failed to provide this value. Digest: ${digest ?? 'none'}`)
    this.digest = digest
  }
}

type FallbackComponent = ComponentType<Partial<ErrorProps>>

const lazyFallbacks = new WeakMap<ModuleLoader, FallbackComponent>()

/** React keeps what `lazy` made between renders only if it is the same object each time. */
function lazyFallback(loader: ModuleLoader): FallbackComponent {
  let made = lazyFallbacks.get(loader)
  if (made === undefined) {
    made = lazy(loader as () => Promise<{ default: FallbackComponent }>)
    lazyFallbacks.set(loader, made)
  }
  return made
}

/** Tells the router what something thrown has come to, once that is in the document. */
class Tell extends Component<{ readonly router: (router: BoundaryRouter) => void }> {
  static override contextType = RouterContext
  declare context: BoundaryRouter | null

  override componentDidMount(): void {
    if (this.context) this.props.router(this.context)
  }

  override render(): ReactNode {
    return null
  }
}
