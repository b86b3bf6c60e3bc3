import { Component, type ReactNode } from 'react'
import { controlFlowOf, digestOf } from '../../shared/control-flow.ts'
import type { BoundaryRouter, BoundaryProps } from './router-types.ts'
import { RouterContext } from './contexts.ts'

interface CaughtThrown {
  readonly value: unknown
  /** The fallback, once it has loaded; `null` if it does not load. */
  readonly shown?: ReactNode
}

interface CaughtState {
  readonly thrown?: CaughtThrown | undefined
  readonly visit?: number | undefined
}

/**
 * Shows a segment's own fallback when something inside its layout throws in the browser. Passes an error on if there is
 * no fallback for it, or if that does not load. The router provides the fallback, with its styles: only the last resort
 * needs nothing that could fail to load. React runs no error boundaries on the server: there the runtime picks the
 * fallback before it renders.
 */
export class SegmentBoundary extends Component<BoundaryProps, CaughtState> {
  static override contextType = RouterContext
  declare context: BoundaryRouter | null
  override state: CaughtState = {}

  static getDerivedStateFromError(thrown: unknown): CaughtState {
    return { thrown: { value: thrown } }
  }

  static getDerivedStateFromProps({ visit }: BoundaryProps, state: CaughtState): CaughtState | null {
    return visit === state.visit ? null : { visit, thrown: undefined }
  }

  override getSnapshotBeforeUpdate(): null {
    // What was typed is still in the document.
    if (this.state.thrown) this.context?.leaving('error')
    return null
  }

  override componentDidMount(): void {
    this.componentDidUpdate(this.props, {})
  }

  override componentDidUpdate(_: BoundaryProps, former: CaughtState): void {
    const { thrown } = this.state
    if (!thrown || thrown === former.thrown || 'shown' in thrown) return
    void this.context?.caught(this.props, thrown.value).then((shown = null) => {
      if (this.state.thrown === thrown) this.setState({ thrown: { ...thrown, shown } })
    })
  }

  override render(): ReactNode {
    const { thrown } = this.state
    const { at, children } = this.props
    if (!thrown) return children
    const { shown, value } = thrown
    if (shown) return shown
    if (shown === undefined && (at >= 0 || controlFlowOf(value))) return null
    if (at >= 0) throw value
    const digest = digestOf(value)
    return (
      // Its stylesheets may be missing; through the CSSOM, which no policy blocks.
      <main style={{ padding: '10vh 8vw' }}>
        <title>Application error</title>
        <h1 data-testid="error" tabIndex={-1} ref={focus}>
          {`Application error: a ${value instanceof ServerFailure ? 'server' : 'client'}-side exception has occurred`}
        </h1>
        {digest && <p data-testid="digest">{`Digest: ${digest}`}</p>}
        <p>
          {/* A plain link: the router itself may have failed. */}
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

/** Usually the router does this, but it may not have loaded. */
function focus(heading: { focus(): void } | null): void {
  heading?.focus()
}

/** A failure of the server, of which the browser knows only its digest, or nothing if the answer was cut off. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure'
  declare readonly digest: string | undefined
  /** Of the answer; absent if that had started before the failure. */
  declare readonly status?: number

  constructor(digest?: string) {
    super(`The server failed to provide this value. Digest: ${digest ?? 'none'}`)
    this.digest = digest
  }
}
