import type { RouteTable } from '../../../shared/route-table.ts'
import type { CalledPage } from './serve-action.ts'

/**
 * The page of URLs that no route answers: the layout of the entry `/` and its fallback for what is not found. Both may
 * have forms, and what guards the site guards them.
 */
export function unmatchedPage({ root }: Pick<RouteTable, 'root'>): CalledPage {
  const { page: _page, loader: _loader, handler: _handler, ...definition } = root?.definition ?? {}
  const entry = { key: '/', definition }
  const chain = root === undefined ? [] : [entry]
  return {
    route: { ...entry, pattern: '/', kind: 'page', dynamic: false, segments: [], chain },
    params: {},
    search: '',
  }
}
