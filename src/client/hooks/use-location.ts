import { useContext, useMemo } from 'react'
import type { Href } from '../../shared/link-target.ts'
import { RouterContext } from '../react/contexts.ts'
import { viewLocation } from '../react/view-location.ts'
import { useRouterValue } from './use-router.ts'
import { useView } from './use-view.ts'

/** The URL of the page on screen, in parts that links, `navigate` and `redirect` take. */
export interface PageLocation {
  /** Without the base path; percent-encoded, as in a link. */
  readonly pathname: Href
  /** `''`, or the query with its question mark. */
  readonly search: '' | `?${string}`
  /** `''`, or the fragment with its `#`. Always `''` on the server and while hydrating: browsers do not send it. */
  readonly hash: '' | `#${string}`
}

/** The URL of the page on screen. Changes together with the page, and with the fragment: the same object until then. */
export function useLocation(): PageLocation {
  const view = useView()
  const router = useContext(RouterContext)
  const shown = useRouterValue(({ screen }) => screen.href, '')
  const own = viewLocation(view, router)
  const page = shown.replace(/#.*/s, '')
  // The visitor moves within a page without a new view. On the server `shown` is empty, and the query is not read.
  const isShown = page !== '' && page === own.pathname + own.search
  const { pathname } = own
  const search = router && own.search
  const hash = isShown ? shown.slice(page.length) : (view.location?.hash ?? '')
  const location = useMemo(() => ({ pathname, search, hash }), [pathname, search, hash])
  // A getter: on the server a document depends on its query only where something reads that.
  const lazy = {
    pathname,
    hash,
    get search() {
      return own.search
    },
  }
  return (router ? location : lazy) as PageLocation
}
