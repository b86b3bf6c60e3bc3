import { Component, lazy, Suspense, type ComponentType, type ReactNode } from 'react'
import { controlFlowOf, digestOf, RedirectSignal } from '../../shared/control-flow.ts'
import { safeLocation } from '../../shared/safe-location.ts'
import type { BoundaryKind, ModuleLoader, SegmentDefinition } from '../../shared/route-definition.ts'
import type { ErrorProps } from '../module-types.ts'

interface CaughtState {
  readonly thrown?: { readonly value: unknown }
}

interface SegmentBoundaryProps {
  readonly definition: SegmentDefinition
  readonly children: ReactNode
}

/**
 * Shows a segment's own fallback when something inside its layout throws in the browser, and passes on what it has no
 * fallback for. React runs no error boundary on the server: there the runtime picks the fallback before it renders.
 */
export class SegmentBoundary extends Component<SegmentBoundaryProps, CaughtState> {
  override state: CaughtState = {}

  static getDerivedStateFromError(thrown: unknown): CaughtState {
    return { thrown: { value: thrown } }
  }

  readonly #retry = (): void => this.setState({ thrown: undefined } as never)

  override render(): ReactNode {
    const { thrown } = this.state
    if (thrown === undefined) return this.props.children
    const { value } = thrown
    const signal = controlFlowOf(value)
    if (signal instanceof RedirectSignal) return <Leave signal={signal} />
    const kind: BoundaryKind = signal === undefined ? 'error' : signal.kind
    const loader = this.props.definition[kind]
    if (loader === undefined) throw value
    const Fallback = lazyFallback(loader)
    return (
      <Suspense fallback={null}>
        <meta name="robots" content="noindex" />
        <Fallback {...(kind === 'error' ? errorProps(value, this.#retry) : {})} />
      </Suspense>
    )
  }
}

/** The last resort inside the document: a fixed text, when no segment of the application has caught the failure. */
export class RootBoundary extends Component<{ readonly children: ReactNode }, CaughtState> {
  override state: CaughtState = {}

  static getDerivedStateFromError(thrown: unknown): CaughtState {
    return { thrown: { value: thrown } }
  }

  override render(): ReactNode {
    const { thrown } = this.state
    if (thrown === undefined) return this.props.children
    const signal = controlFlowOf(thrown.value)
    if (signal instanceof RedirectSignal) return <Leave signal={signal} />
    const { origin, digest } = errorProps(thrown.value, () => undefined)
    return (
      <main>
        <h1 data-testid="error">{`Application error: a ${origin}-side exception has occurred`}</h1>
        {digest === undefined ? null : <p data-testid="digest">{`Digest: ${digest}`}</p>}
      </main>
    )
  }
}

/** A failure that happened on the server and reached the browser as nothing but its digest. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure'
  readonly digest: string

  constructor(digest: string) {
    super(`The server failed to provide this value. Digest: ${digest}`)
    this.digest = digest
  }
}

function errorProps(thrown: unknown, retry: () => void): ErrorProps {
  const digest = digestOf(thrown)
  return {
    origin: thrown instanceof ServerFailure ? 'server' : 'client',
    retry,
    ...(digest === undefined ? {} : { digest }),
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

/** Leaves for a URL that something thrown after the first bytes has named. */
class Leave extends Component<{ readonly signal: RedirectSignal }> {
  override componentDidMount(): void {
    const { location } = globalThis as unknown as { location: { replace(to: string): void } }
    const target = safeLocation(this.props.signal.to, this.props.signal)
    if (target !== undefined) location.replace(target)
  }

  override render(): ReactNode {
    return null
  }
}
