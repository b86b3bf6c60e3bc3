/**
 * Matching by a trie of path segments. A lookup visits a node at most once and costs one map lookup per segment, so it
 * does not depend on the size of the table. If a branch fails further down, the next kind of segment at the same place
 * is tried: the result is the first match in the order of `compareSegments`.
 */
import type { ParamLists } from './route-definition.ts'
import type { Params, PatternSegment } from './route-pattern.ts'
import { decodeSegment } from './route-segment.ts'

/** The properties of a route that matching needs. */
export interface Matchable {
  /** Of the pattern without groups. */
  readonly segments: readonly PatternSegment[]
  /** Whether any segment is not static. */
  readonly dynamic: boolean
  /** Limit params of the route, and of every other route that has them at the same place. */
  readonly lists?: ParamLists
}

/** A route that answers a path. */
export type Match<Route> =
  | {
      readonly route: Route
      /** Decoded once. No prototype; every param is an own property, including `__proto__`. */
      readonly params: Params<string>
      readonly error?: undefined
    }
  | {
      readonly route: Route
      /** The route matches, but a value has invalid percent-encoding or UTF-8. */
      readonly error: 'undecodable'
      readonly params?: undefined
    }

/**
 * Finds the route for a path.
 * @param pathname normalised (one slash between segments, none at the end) and still percent-encoded.
 * @param only `static`: only routes without params; `dynamic`: only routes with some. Default: both.
 */
export type Matcher<Route> = (pathname: string, only?: 'static' | 'dynamic') => Match<Route> | undefined

interface Node<Route> {
  readonly statics: Map<string, Node<Route>>
  param?: Node<Route>
  /** The values that are allowed here. */
  list?: readonly (string | undefined)[] | undefined
  route?: Route
  catchAll?: Route
  optionalCatchAll?: Route
}

/** Builds the trie. The routes may be in any order; of two for the same URLs the first one wins. */
export function createMatcher<Route extends Matchable>(routes: readonly Route[]): Matcher<Route> {
  const root: Node<Route> = { statics: new Map() }
  for (const route of routes) insert(root, route)

  return (pathname, only) => {
    const values = splitPath(pathname)
    const route = values && find(root, values, 0, only)
    if (values === undefined || route === undefined) return undefined
    // Text that does not decode is not static, so it is the value of a param.
    return values.every((value) => value !== undefined)
      ? { route, params: readParams(route.segments, values) }
      : { route, error: 'undecodable' }
  }
}

function insert<Route extends Matchable>(root: Node<Route>, route: Route): void {
  let node = root
  for (const segment of route.segments) {
    if (segment.kind === 'static') {
      let child = node.statics.get(segment.text)
      if (child === undefined) node.statics.set(segment.text, (child = { statics: new Map() }))
      node = child
    } else if (segment.kind === 'param') {
      node = node.param ??= { statics: new Map() }
      node.list ??= route.lists?.[segment.name]
    } else {
      node[segment.kind] ??= route
      return
    }
  }
  node.route ??= route
}

/** The decoded segments, `undefined` for one that does not decode; `undefined` for a path that is not normalised. */
function splitPath(pathname: string): readonly (string | undefined)[] | undefined {
  if (pathname === '/') return []
  if (!pathname.startsWith('/')) return undefined
  const segments = pathname.slice(1).split('/')
  if (segments.includes('')) return undefined
  return pathname.includes('%') ? segments.map(decodeSegment) : segments
}

function find<Route extends Matchable>(
  node: Node<Route>,
  values: readonly (string | undefined)[],
  depth: number,
  only: 'static' | 'dynamic' | undefined,
): Route | undefined {
  if (depth === values.length) return admit(node.route, only) ?? admit(node.optionalCatchAll, only)
  const value = values[depth]
  const below = value === undefined ? undefined : node.statics.get(value)
  const found = below && find(below, values, depth + 1, only)
  if (found !== undefined || only === 'static') return found
  const { param } = node
  return (
    (param && param.list?.includes(value) !== false && find(param, values, depth + 1, only)) ||
    node.catchAll ||
    node.optionalCatchAll
  )
}

function admit<Route extends Matchable>(
  route: Route | undefined,
  only: 'static' | 'dynamic' | undefined,
): Route | undefined {
  return route === undefined || only === undefined || route.dynamic === (only === 'dynamic') ? route : undefined
}

function readParams(segments: readonly PatternSegment[], values: readonly string[]): Params<string> {
  const params: Record<string, string | readonly string[]> = Object.create(null)
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'static') continue
    const value = segment.kind === 'param' ? values[index] : values.slice(index)
    // An optional list that matches nothing is absent.
    if (value?.length) params[segment.name] = value
  }
  return params
}
