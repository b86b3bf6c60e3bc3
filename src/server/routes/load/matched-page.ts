import type { Route, RouteTable } from '../../../shared/route-table.ts'
import type { LoaderArgs } from '../../api/loader-types.ts'

/** The route that answers a URL, and its arguments. */
export interface MatchedPage {
  readonly route: Route
  readonly params: LoaderArgs['params']
  /** The query after rewriting: `''` or with its question mark. */
  readonly search: string
  /** No route answers the URL: this is `unmatchedPage`, to be shown as not found. */
  readonly isUnmatched: boolean
}

/**
 * The page for URLs that no route answers: the layout of the entry `/` and its `notFound` fallback. Both may have
 * forms, and the guards of `/` apply.
 */
export function unmatchedPage({ root }: Pick<RouteTable, 'root'>): MatchedPage {
  const { page: _page, loader: _loader, handler: _handler, ...definition } = root?.definition ?? {}
  const entry = { key: '/', definition }
  const chain = root === undefined ? [] : [entry]
  return {
    route: { ...entry, pattern: '/', kind: 'page', dynamic: false, segments: [], chain },
    params: {},
    search: '',
    isUnmatched: true,
  }
}
