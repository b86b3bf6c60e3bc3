import type { NavigateEvent, NavigateOptions, NavigationKind } from '../../react/router-types.ts'
import { callSafely } from './call-safely.ts'
import type { FormerPage } from './former-page.ts'
import type { NavigationRecord } from '../data/journal.ts'
import { hrefOf } from '../data/local-href.ts'
import {
  PENDING_DELAY_MS,
  reduceNavigation,
  runningNavigation,
  type NavigationEvent,
  type NavigationTarget,
} from './navigation.ts'
import { RouteCancelled } from '../../react/router-errors.ts'
import type { RouterParts, RouterScreen, RouterState } from './router-parts.ts'

/** Starts navigations, and ends the one in progress. */
export interface NavigationRun {
  /**
   * Cancels the current navigation, and starts another one.
   * @param reason for listeners.
   */
  start(href: string, kind: NavigationKind, options?: NavigateOptions, reason?: unknown): Promise<void>
  cancel(): void
  /**
   * Ends the current navigation, and calls its listeners.
   * @param reason the failure, which `commit` and `leave` may also have if something can be shown.
   */
  end(type: NavigationEnd, reason?: unknown): void
  /** @param isAnswer as for `ScreenUpdates.show`. */
  render(screen: RouterScreen, isAnswer?: boolean): void
}

/** How a navigation ends. */
type NavigationEnd = Exclude<NavigateEvent['type'], 'start'>

/**
 * Runs one navigation at a time, by the reducer in `navigation.ts`. An overtaken navigation is aborted; after each
 * wait, its signal tells whether it is still the current one.
 */
export function createNavigationRun(
  parts: RouterParts & Pick<FormerPage, 'keepsFrom'>,
  state: RouterState,
): NavigationRun {
  const { history, now } = parts
  /** Of the last navigation. */
  let { lifetime } = state.screen
  let record: NavigationRecord | undefined
  let lastId = 0

  function dispatch(event: NavigationEvent): void {
    const next = reduceNavigation(state.navigation, event)
    if (next === state.navigation) return
    state.navigation = next
    parts.tell()
  }

  function emit(type: NavigateEvent['type'], { kind, href, since }: NavigationTarget, reason: unknown): void {
    const event = { type, kind, from: record?.from ?? '', to: href, duration: now() - since, reason }
    for (const listener of parts.listeners.navigations) callSafely(() => listener(event))
  }

  function end(type: NavigationEnd, reason?: unknown): void {
    const target = runningNavigation(state.navigation)?.target
    if (!target) return
    const told = type === 'cancel' || reason === undefined ? type : 'fail'
    dispatch({ type, id: target.id, reason })
    Object.assign(record ?? {}, { endedAt: now(), end: told })
    emit(told, target, reason)
  }

  function render(next: RouterScreen, isAnswer?: boolean): void {
    state.rendering = true
    state.given = next
    parts.render(state.given, isAnswer)
  }

  function cancel(): void {
    if (!runningNavigation(state.navigation)) return
    const reason = new RouteCancelled()
    lifetime.abort(reason)
    // React is rendering it and would show it: the last call wins.
    if (state.rendering) render(state.screen)
    end('cancel', reason)
  }

  /** A click after Back, before the old page has loaded, counts from the page still on screen. */
  async function returnToScreen(href: string, kind: NavigationKind): Promise<void> {
    const { offset: delta } = state
    if (delta === 0 || kind === 'traverse' || href === hrefOf(parts.window.location)) return
    state.offset = 0
    await history.revert({ href, entry: history.current, delta })
  }

  async function start(
    href: string,
    kind: NavigationKind,
    { scroll = true, focus = scroll }: NavigateOptions = {},
    reason?: unknown,
  ): Promise<void> {
    if (parts.keepsFrom(kind)) return
    cancel()
    state.refresh?.abort()
    if (parts.outdated() || state.former) return parts.leave(href, kind)
    const returned = returnToScreen(href, kind)
    const own = (lifetime = new AbortController())
    const { signal } = own
    const id = (lastId += 1)
    const target: NavigationTarget = { id, kind, href, since: now() }
    record = parts.journal.navigation({ id, kind, from: state.screen.href, to: href, startedAt: target.since })
    dispatch({ type: 'start', target })
    emit('start', target, reason)
    const slow = setTimeout(() => dispatch({ type: 'slow', id }), PENDING_DELAY_MS)
    try {
      const reload = kind === 'refresh' ? 'all' : 'nothing'
      const page = await parts.loader.load(href, { signal, reload })
      await returned
      if (signal.aborted) return
      const { href: to } = page
      if (page.kind === 'document' || state.former) {
        // The browser takes over. It may be a download, and then this page stays.
        end('leave', page.kind === 'document' ? told(page.reason) : undefined)
        return parts.leave(to, kind)
      }
      Object.assign(record, { readyAt: now(), to })
      if (to !== href) dispatch({ type: 'start', target: { ...target, href: to } })
      dispatch({ type: 'load', id })
      state.drops = parts.known.drops
      render({ href: to, view: page.view, visit: id, page, lifetime: own, arrival: { kind, scroll, focus } })
    } catch (reason) {
      if (signal.aborted) return
      end('fail', reason)
      reportError(reason)
    } finally {
      clearTimeout(slow)
    }
  }

  return { start, cancel, end, render }
}

function told(reason: Error | undefined): Error | undefined {
  // oxlint-disable-next-line no-console -- the document that follows cannot say why it had to come
  if (reason) console.error(reason.message)
  return reason
}
