import { Component, type ReactNode } from 'react'
import type { Screen, HostedRouter } from './router-types.ts'
import { RouterContext } from './contexts.ts'

/** Props of `ClientRoot`. */
interface ClientRootProps {
  readonly router: HostedRouter
  readonly screen: Screen
  /** The tree of the screen. */
  readonly children: ReactNode
}

/** Wraps the document in the browser, and tells the router when React changes it. */
export class ClientRoot extends Component<ClientRootProps> {
  override getSnapshotBeforeUpdate({ screen }: ClientRootProps): null {
    if (screen !== this.props.screen) this.props.router.leaving()
    return null
  }

  override componentDidMount(): void {
    this.props.router.committed(this.props.screen)
  }

  override componentDidUpdate({ screen }: ClientRootProps): void {
    if (screen !== this.props.screen) this.componentDidMount()
  }

  override render(): ReactNode {
    return <RouterContext value={this.props.router}>{this.props.children}</RouterContext>
  }
}
