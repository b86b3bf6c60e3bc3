import type { Router } from './router-types.ts'
import type { RouteView, ViewLocation } from './route-view.ts'

/** For parsing URLs without a document. */
export const NO_SITE = 'http://site.invalid'

/**
 * The location of the view that is being rendered. During a navigation the router's screen is still the former page, so
 * only the document's own page takes it from there.
 */
export function viewLocation({ location }: RouteView, router: Router | null): ViewLocation {
  return location ?? new URL(router?.screen.href ?? '/', NO_SITE)
}
