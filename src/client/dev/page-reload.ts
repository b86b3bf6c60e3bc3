import { basePath } from '../../shared/base-path.ts'
import { DEV_SETTLED_PATH } from './dev-messages.ts'
import type { InspectedRouter } from '../inspect/router-insight.ts'

/** Loads the document again. Text that was typed, and the scroll position, stay. */
interface PageReload {
  /** Called after hydration, with the page's router, which has the typed text. */
  found(router: Pick<InspectedRouter, 'leaving'>): void
  reload(): void
  /**
   * Asks first whether the application answers: a server that restarts meanwhile would leave the browser's own error page, and
   * one that does not start a page of its failure. The event stream announces the next server.
   */
  reloadOnceServed(): Promise<void>
  /** A build has succeeded: a page that has stayed instead of reloading tries again. */
  built(): void
}

export function createPageReload({
  location,
  fetch,
}: Pick<Window & typeof globalThis, 'location' | 'fetch'>): PageReload {
  const state: { router?: Pick<InspectedRouter, 'leaving'>; isDue: boolean; isLeaving: boolean } = {
    isDue: false,
    isLeaving: false,
  }

  function reload(): void {
    if (state.isLeaving) return
    state.isLeaving = true
    state.router?.leaving()
    location.reload()
  }

  async function reloadOnceServed(): Promise<void> {
    const answer = await fetch(basePath() + DEV_SETTLED_PATH).catch(() => undefined)
    if (answer?.ok === true) reload()
    else state.isDue = true
  }

  return {
    found: (router) => void (state.router = router),
    reload,
    reloadOnceServed,
    built() {
      state.isLeaving = false // its visitor may have stayed
      if (state.isDue) void reloadOnceServed()
    },
  }
}
