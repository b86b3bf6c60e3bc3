import type { RouteLoadError } from '../../react/router-errors.ts'
import type { Screen } from '../../react/router-types.ts'
import { pathOf } from '../data/known-routes.ts'
import { matchesTarget } from '../data/route-cache.ts'
import type { Reload } from '../data/route-plan.ts'
import type { Outcome } from '../../react/route-view.ts'
import { hrefOf } from '../data/local-href.ts'
import { RouteCancelled } from '../../react/router-errors.ts'
import type { FormerPage } from './former-page.ts'
import { leavingFor, runningNavigation } from './navigation.ts'
import type { NavigationRun } from './navigation-run.ts'
import type { RouterParts, RouterScreen, RouterState } from './router-parts.ts'

/** Changes of the screen: the commit of a navigation, and other data or a fallback of the same page. */
export interface ScreenUpdates {
  /**
   * Reloads the data on screen, which may have changed on the server, and renders only changes.
   * @param reload what to request although it is cached. Default: `stale`.
   */
  catchUp(reload?: Reload): Promise<void>
  /** Drops these targets, and reloads the part that is on screen. */
  forget(targets: readonly string[]): void
  /**
   * Drops targets.
   * @param at time of the drop, as in `drops-event.ts`: newer data stays. Default: all of it is older.
   * @returns whether something older is on screen.
   */
  drop(targets: readonly string[], at?: number): boolean
  /**
   * Renders the data that an action's answer has for the page on screen.
   * @param page keys of its cache entries, and the last drop that it contains.
   * @param former what this has returned for an earlier part of the answer: nothing is rendered if React has been given
   * another view since. Without it, the view is shown together with the action's result.
   * @returns the view that React was given last.
   */
  show(view: Screen['view'], page: Pick<RouterScreen['page'], 'keys' | 'at'>, former?: Screen['view']): Screen['view']
  /** A boundary of the screen shows a fallback: title, focus and announcement follow. */
  fallBack(fallback: Outcome): void
  /** React has put this screen into the document. */
  committed(screen: RouterScreen): void
}

/** Parts of a router that change its screen. */
type ScreenParts = RouterParts & { readonly formerPage: FormerPage }

export function createScreenUpdates(parts: ScreenParts, state: RouterState, run: NavigationRun): ScreenUpdates {
  const { known, formerPage } = parts

  /** Shows the page of the screen as a new visit, unless the visitor is leaving it. */
  const visitAgain = async (href: string, kind: 'refresh' | 'replace'): Promise<void> =>
    leavingFor(state.navigation) ? undefined : run.start(href, kind, { scroll: false })

  /** The page that is about to be shown may have been loaded before what was asked for here. */
  let isBehind = false

  async function catchUp(reload: Reload = 'stale'): Promise<void> {
    const shown = state.screen
    // A boundary shows its page again with a new visit only.
    if (shown.fallback) return visitAgain(shown.href, 'refresh')
    state.refresh?.abort()
    const own = (state.refresh = new AbortController())
    const { signal } = own
    const page = await parts.loader.load(shown.href, { signal, reload, whole: true }).catch(() => undefined)
    const { screen, given } = state
    if (state.refresh === own) state.refresh = undefined
    if (signal.aborted || screen.visit !== shown.visit) return
    // The old screen is better than an unrequested error page, and the next navigation will find out that only a document
    // helps; but not if it is a former user's, unless there would be no document either.
    if (page?.kind !== 'page' || page.failure !== undefined || page.view.outcome?.kind === 'error') {
      const failure = page?.kind === 'page' ? page.failure : page?.reason
      return state.former && (failure as Partial<RouteLoadError> | undefined)?.reason !== 'offline'
        ? visitAgain(shown.href, 'refresh')
        : undefined
    }
    if (state.former) return formerPage.replace()
    const { href, view } = page
    isBehind ||= state.navigation.state !== 'idle'
    // React would show this page instead of the one that it is about to show.
    if (state.navigation.state === 'committing') return
    if (href !== shown.href) return visitAgain(href, 'replace')
    // Meanwhile a boundary may have shown a fallback, and the visitor may have moved within the page.
    const latest = given.visit === screen.visit ? given : screen
    if (sameView(view, latest.view)) {
      state.screen = { ...screen, page }
      return known.shown(page.keys, href)
    }
    run.render({ ...latest, href: screen.href, arrival: undefined, view, page })
  }

  /** @returns whether something older is on screen. */
  function drop(targets: readonly string[], at?: number): boolean {
    const { href, page, view, fallback } = state.screen
    // A page may have had any tag instead of which a fallback is shown.
    const tags = (fallback ?? view.outcome) ? targets : []
    const own = { tags, path: pathOf(href), at: page.at }
    parts.store.revalidate(targets, at)
    return [own, ...known.screen].some((entry = { ...own, tags: targets }) => matchesTarget(entry, targets, at))
  }

  return {
    catchUp,
    drop,
    forget(targets) {
      if (drop(targets)) void catchUp()
      parts.tell()
    },
    show(view, page, former) {
      const { screen, given, refresh } = state
      if (state.former) {
        formerPage.replace()
        return given.view
      }
      // A page that is about to be shown will have the latest state.
      if (state.navigation.state === 'committing' || (former && former !== given.view)) return given.view
      known.shown(page.keys, screen.href)
      if (!sameView(view, screen.view)) {
        const next = { ...screen, arrival: undefined, view, page: { ...screen.page, ...page, stale: false } }
        run.render(next, !former)
      }
      // Something was dropped during the call: it is unknown which answer is newer.
      if (!former && refresh?.signal.aborted === false) void catchUp('all')
      return state.given.view
    },
    fallBack(fallback) {
      // A page that is about to be shown has other fallbacks.
      if (state.navigation.state !== 'committing') run.render({ ...state.screen, arrival: undefined, fallback })
    },
    committed(shown) {
      const former = state.screen
      if (shown === former) return
      state.screen = shown
      state.rendering = false
      known.shown(shown.page.keys, shown.href)
      arrive({ parts, state, run }, shown, former)
      parts.tell()
      // Something may have been dropped while React rendered the page.
      if (shown.page.stale || (shown.arrival && (isBehind || state.drops !== known.drops))) void catchUp()
      if (shown.arrival) isBehind = false
    },
  }
}

function arrive(
  { parts, state, run }: { parts: ScreenParts; state: RouterState; run: NavigationRun },
  shown: RouterScreen,
  former: RouterScreen,
): void {
  const { history, effects } = parts
  const { arrival, page, href, visit } = shown
  if (arrival) {
    state.offset = 0
    if (arrival.kind === 'push') history.push(href)
    // A redirect may have led a traversal elsewhere.
    else if (arrival.kind === 'replace' || href !== hrefOf(parts.window.location)) history.replace(href)
    former.lifetime.abort(new RouteCancelled())
    effects.arrived(shown)
    if (runningNavigation(state.navigation)?.target.id === visit) run.end('commit', page.failure)
  } else if (shown.fallback !== former.fallback || shown.view.outcome !== former.view.outcome) effects.arrived(shown)
}

/** Whether React would render the same: equal objects mean that nothing has changed on the server. */
function sameView(left: Screen['view'], right: Screen['view']): boolean {
  const ids = Object.keys(left.data)
  return (
    left.chain.at(-1)?.key === right.chain.at(-1)?.key &&
    !left.outcome &&
    !right.outcome &&
    ids.length === Object.keys(right.data).length &&
    ids.every((id) => left.data[id] === right.data[id])
  )
}
