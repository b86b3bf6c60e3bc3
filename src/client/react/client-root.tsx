import { Component, type ReactNode } from 'react'
import type { Router, Screen } from '../router-types.ts'
import { RouterContext } from './contexts.ts'

/** Props of `ClientRoot`. */
export interface ClientRootProps<Shown extends Screen> {
  readonly router: Router
  readonly screen: Shown
  /** The tree of the screen. */
  readonly children: ReactNode
  /** React is about to take the former screen away. */
  readonly onLeave: (former: Shown) => void
  /** React has put the screen into the document. */
  readonly onShown: (shown: Shown) => void
}

/** Stands around the document in the browser, and tells when React has changed it. */
export class ClientRoot<Shown extends Screen> extends Component<ClientRootProps<Shown>> {
  override getSnapshotBeforeUpdate({ screen }: ClientRootProps<Shown>): null {
    if (screen !== this.props.screen) this.props.onLeave(screen)
    return null
  }

  override componentDidMount(): void {
    this.props.onShown(this.props.screen)
  }

  override componentDidUpdate({ screen }: ClientRootProps<Shown>): void {
    if (screen !== this.props.screen) this.props.onShown(this.props.screen)
  }

  override render(): ReactNode {
    return <RouterContext value={this.props.router}>{this.props.children}</RouterContext>
  }
}
