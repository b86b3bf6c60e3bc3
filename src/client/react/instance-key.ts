import type { RouteParams } from './route-view.ts'

const PARAM_NAMES = /\[(?:\.{3})?([^[\]]+)\]/g

/**
 * Identifies an instance of a segment, for React and for the route cache: JSON of the segment's id and of the params in
 * its own pattern, so that all pages in a layout share the layout's instance.
 * @param id `<key>#<kind>`.
 * @param params of the matched route, decoded; those of other segments do not count.
 */
export function instanceKey(id: string, params: RouteParams): string {
  const own = [...id.matchAll(PARAM_NAMES)].map(([, name = '']) => (Object.hasOwn(params, name) ? params[name] : null))
  return JSON.stringify([id, ...own])
}
