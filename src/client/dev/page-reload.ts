import { basePath } from '../../shared/base-path.ts'
import { DEV_SETTLED_PATH } from './dev-messages.ts'
import type { InspectedRouter } from '../inspect/router-insight.ts'

/** Loads the document again. Text that was typed, and the scroll position, stay. */
export interface PageReload {
  /** Called after hydration, with the page's router, which has the typed text. */
  found(router: Pick<InspectedRouter, 'leaving'>): void
  reload(): void
  /**
   * Asks first whether the server answers: one that restarts meanwhile would leave the browser's own error page, and nothing
   * there to load the next one. The event stream tells of the next server.
   */
  reloadOnceServed(): Promise<void>
}

export function createPageReload({
  location,
  fetch,
}: Pick<Window & typeof globalThis, 'location' | 'fetch'>): PageReload {
  const state: { router?: Pick<InspectedRouter, 'leaving'> } = {}

  function reload(): void {
    state.router?.leaving()
    location.reload()
  }

  return {
    found: (router) => void (state.router = router),
    reload,
    async reloadOnceServed() {
      const answer = await fetch(basePath() + DEV_SETTLED_PATH).catch(() => undefined)
      if (answer?.ok === true) reload()
    },
  }
}
