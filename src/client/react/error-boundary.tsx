import { Component, use, type ReactNode } from 'react'
import { controlFlowOf } from '../../shared/control-flow.ts'
import type { ErrorProps } from '../module-types.ts'
import { RouterContext, ViewContext } from './contexts.ts'
import { failureProps } from './failure-props.ts'
import type { BoundaryRouter } from './router-types.ts'
import type { RouteView } from './route-view.ts'

/** Props of `ErrorBoundary`. */
export interface ErrorBoundaryProps {
  /** Shown in place of the children when they fail. The component of an error page can be used as well. */
  readonly fallback: (props: ErrorProps) => ReactNode
  /** The part of the page. */
  readonly children: ReactNode
}

/**
 * Shows a fallback for a part of a page that fails, and leaves the rest as it is. Put it around a `Suspense`: on the
 * server, React contains failures only in those. It shows the part again when the page has other data, and after a
 * navigation. It does not catch redirects and refusals.
 * @example
 * ```tsx
 * import { Suspense, use } from 'react'
 * import { ErrorBoundary } from 'millrace'
 *
 * function Prices({ prices }: { readonly prices: Promise<readonly string[]> }) {
 *   return <p>{use(prices).join(', ')}</p>
 * }
 *
 * export function PricesPart({ prices }: { readonly prices: Promise<readonly string[]> }) {
 *   return (
 *     <ErrorBoundary fallback={({ retry }) => <button onClick={retry}>Load prices again</button>}>
 *       <Suspense fallback="Loading prices …">
 *         <Prices prices={prices} />
 *       </Suspense>
 *     </ErrorBoundary>
 *   )
 * }
 * ```
 */
export function ErrorBoundary(props: ErrorBoundaryProps): ReactNode {
  return <PartBoundary {...props} view={use(ViewContext)} />
}

interface PartProps extends ErrorBoundaryProps {
  readonly view: RouteView | null
}

interface PartState {
  readonly thrown?: { readonly value: unknown } | undefined
  readonly view?: RouteView | null
}

class PartBoundary extends Component<PartProps, PartState> {
  static override contextType = RouterContext
  declare context: BoundaryRouter | null
  override state: PartState = {}

  static getDerivedStateFromError(value: unknown): PartState {
    return { thrown: { value } }
  }

  static getDerivedStateFromProps({ view }: PartProps, state: PartState): PartState | null {
    return view === state.view ? null : { view, thrown: undefined }
  }

  override getSnapshotBeforeUpdate(_: PartProps, { thrown }: PartState): null {
    // What was typed is still in the document.
    if (!thrown && this.state.thrown) this.context?.leaving('')
    return null
  }

  /** React requires it beside `getSnapshotBeforeUpdate`. */
  override componentDidUpdate(): void {}

  readonly #retry = (): void => this.context?.refresh()

  override render(): ReactNode {
    const { thrown } = this.state
    const { children, fallback } = this.props
    if (!thrown) return children
    const { value } = thrown
    // For the page's own boundaries.
    if (controlFlowOf(value)) throw value
    return <Fallback show={fallback} {...failureProps(value)} retry={this.#retry} />
  }
}

/** One component for every `show`: a function that is new at each render must not lose the state of the fallback. */
function Fallback({ show, ...props }: ErrorProps & { readonly show: ErrorBoundaryProps['fallback'] }): ReactNode {
  return show(props)
}
