import { pagePath, withBasePath } from '../../../shared/base-path.ts'
import { isRuntimePath } from '../../../shared/runtime-paths.ts'
import type { NavigateOptions, NavigationKind } from '../../react/router-types.ts'
import type { Traversal } from './history-stack.ts'
import type { LeaveGate } from './leave-gate.ts'
import { pathOf } from '../data/known-routes.ts'
import { hrefOf, withoutHash } from '../data/local-href.ts'
import type { NavigationRun } from './navigation-run.ts'
import { runningNavigation } from './navigation.ts'
import type { RouterParts, RouterState } from './router-parts.ts'

/**
 * Decides how to follow a link, a script or the back button: by a move within the page, a navigation, or a document.
 */
export interface Navigator {
  navigate(to: string | { readonly href: string }, options?: NavigateOptions): void
  traverse(traversal: Traversal): void
  /** A link was clicked: it is marked by `data-pending` while its page is loading. */
  follow(anchor: Element, url: URL): void
}

export function createNavigator(
  parts: RouterParts,
  state: RouterState,
  run: NavigationRun,
  gate: LeaveGate,
): Navigator {
  const { effects, window } = parts
  const { location } = window

  function isHere(href: string): boolean {
    return withoutHash(href) === withoutHash(state.screen.href)
  }

  function navigate(to: string | { readonly href: string }, options: NavigateOptions = {}): void {
    const { screen, navigation } = state
    const heading = runningNavigation(navigation)?.target.href ?? screen.href
    // A fragment is one of the page with the search params that were just asked for.
    const from = pathOf(heading) === pathOf(screen.href) ? heading : screen.href
    const url = linkedUrl(window, typeof to === 'string' ? to : to.href, from)
    if (!/^https?:$/.test(url.protocol)) throw new TypeError(`Not a page: ${url.href}`)
    const kind = options.replace === true ? 'replace' : 'push'
    if (url.origin !== location.origin || isRuntimePath(pagePath(url.pathname))) return parts.leave(url.href, kind)
    const href = hrefOf(url)
    const isCurrent = href === hrefOf(location)
    if (url.hash !== '' && isHere(href) && !isCurrent) return moveTo(href, kind)
    // Navigating to the same page means a reload of its data.
    gate.leave(href, kind, () => void run.start(href, isCurrent ? 'refresh' : kind, options))
  }

  /** Within the page: nothing to load. */
  function moveTo(href: string, kind: Exclude<NavigationKind, 'refresh'>): void {
    run.cancel()
    effects.leaving()
    state.offset = 0
    state.screen = { ...state.screen, href }
    if (kind !== 'traverse') parts.history[kind](href)
    effects.arrived({ ...state.screen, arrival: { kind, scroll: true, focus: kind !== 'traverse' } })
    parts.tell()
  }

  return {
    navigate,
    traverse(traversal) {
      const { href } = traversal
      if (isHere(href) && state.screen.page.failure === undefined) return moveTo(href, 'traverse')
      gate.traverse(traversal, () => {
        state.offset += traversal.delta
        void run.start(href, 'traverse')
      })
    },
    follow(anchor, url) {
      navigate(url, { scroll: !anchor.hasAttribute('data-keep-scroll') })
      if (state.navigation.state !== 'loading') return
      const { id } = state.navigation.target
      const mark = (): void => {
        const running = runningNavigation(state.navigation)
        const isOurs = running?.target.id === id
        anchor.toggleAttribute('data-pending', isOurs && running.slow)
        if (!isOurs) parts.listeners.changes.delete(mark)
      }
      parts.listeners.changes.add(mark)
    },
  }
}

/**
 * Resolves a URL as a `Link` does.
 * @param from path and query of the page on screen: the address bar may be ahead of it.
 */
export function linkedUrl({ document: { baseURI }, location }: Window, to: string, from: string): URL {
  return new URL(withBasePath(to), baseURI === location.href ? new URL(withBasePath(from), baseURI) : baseURI)
}
