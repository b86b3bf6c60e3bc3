import { Component, type ReactNode } from 'react'
import { controlFlowOf, digestOf } from '../../shared/control-flow.ts'
import type { BoundaryRouter, BoundaryProps } from './router-types.ts'
import { RouterContext } from './contexts.ts'

interface CaughtThrown {
  readonly value: unknown
  /** What is shown for it, once that has loaded; `null` where it does not load. */
  readonly shown?: ReactNode
}

interface CaughtState {
  readonly thrown?: CaughtThrown | undefined
  readonly visit?: number | undefined
}

/**
 * Shows a segment's own fallback when something inside its layout throws in the browser, and passes on what it has no
 * fallback for, or one that does not load. What is shown is the router's to make, with its styles: only the last resort
 * needs nothing that could fail to load. React runs no error boundary on the server: there the runtime picks the fallback
 * before it renders.
 */
export class SegmentBoundary extends Component<BoundaryProps, CaughtState> {
  override state: CaughtState = {}

  static getDerivedStateFromError(thrown: unknown): CaughtState {
    return { thrown: { value: thrown } }
  }

  static getDerivedStateFromProps({ visit }: BoundaryProps, state: CaughtState): CaughtState | null {
    return visit === state.visit ? null : { visit, thrown: undefined }
  }

  readonly #bring = (router: BoundaryRouter): void => {
    const { thrown } = this.state
    if (!thrown) return
    void router.caught(this.props, thrown.value).then((shown = null) => {
      if (this.state.thrown === thrown) this.setState({ thrown: { ...thrown, shown } })
    })
  }

  override render(): ReactNode {
    const { thrown } = this.state
    const { at, children } = this.props
    if (!thrown) return children
    const { shown, value } = thrown
    if (shown) return shown
    const asks = <Tell router={this.#bring} />
    if (shown === undefined && (at >= 0 || controlFlowOf(value))) return asks
    if (at >= 0) throw value
    const digest = digestOf(value)
    return (
      // As its stylesheets may be what is missing; by the object model, which no policy refuses.
      <main style={{ padding: '10vh 8vw' }}>
        {asks}
        <title>Application error</title>
        <h1 data-testid="error" tabIndex={-1} ref={focus}>
          {`Application error: a ${value instanceof ServerFailure ? 'server' : 'client'}-side exception has occurred`}
        </h1>
        {digest && <p data-testid="digest">{`Digest: ${digest}`}</p>}
        <p>
          {/* Left to the browser: what has failed may be the router. */}
          {/* oxlint-disable-next-line jsx-a11y/anchor-is-valid -- the page itself */}
          <a href="" rel="external">
            Reload
          </a>{' '}
          <a href="/" rel="external">
            Home
          </a>
        </p>
      </main>
    )
  }
}

/** The router, which would do it, may be what has not come. */
function focus(heading: { focus(): void } | null): void {
  heading?.focus()
}

/** A failure of the server, of which the browser learns its digest, or nothing where the answer has broken off. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure'
  declare readonly digest: string | undefined
  /** Of the answer; absent where that had begun before it failed. */
  declare readonly status?: number

  constructor(digest?: string) {
    super(`The server failed to provide this value. Digest: ${digest ?? 'none'}`)
    this.digest = digest
  }
}

/** Tells the router of something thrown, once what is shown for it is in the document. */
export class Tell extends Component<{ readonly router: (router: BoundaryRouter) => void }> {
  static override contextType = RouterContext
  declare context: BoundaryRouter | null

  override componentDidMount(): void {
    if (this.context) this.props.router(this.context)
  }

  override render(): ReactNode {
    return null
  }
}
