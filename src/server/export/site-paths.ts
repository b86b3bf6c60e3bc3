import { href, HrefError, NO_SEGMENT } from '../../shared/href.ts'
import { layoutId, pageId } from '../../client/react/route-view.ts'
import type { ParamLists } from '../../shared/route-definition.ts'
import { createRouteTable, type Route, type RouteTable } from '../../shared/route-table.ts'
import type { RewriteRule, RuleSet } from '../../shared/rules/rule-types.ts'
import type { AppDefinition } from '../api/define-app.ts'
import type { PathParams, ServerModule } from '../api/loader-types.ts'

/** Something of an application that cannot be a file. */
export interface ExportFault {
  /** A route's pattern, a path or a rule. */
  readonly what: string
  readonly reason: string
}

/** A URL that a stranger can ask for. */
export interface SitePath {
  /** Percent-encoded. */
  readonly path: string
  /** Pattern of its route, or its rule. */
  readonly what: string
  /** `file`: of a handler, whose answer is the file. */
  readonly kind: 'page' | 'file'
}

/** What is known of an application before it is asked. */
interface SiteFacts {
  readonly definition: Pick<AppDefinition, 'routes' | 'rules'>
  /** As in the manifest of the build. */
  readonly actionSegments: readonly string[]
}

const NEEDS_SERVER = 'which needs a server'

/**
 * Lists the URLs of an application that a stranger can ask for, one after the other, however many there are.
 * @param onFault called for each route and each rule that cannot be files.
 */
export async function* sitePaths(facts: SiteFacts, onFault: (fault: ExportFault) => void): AsyncGenerator<SitePath> {
  const { rules, routes } = facts.definition
  yield* rulePaths(rules ?? {}, onFault)
  const table = createRouteTable(routes)
  for (const route of table.routes) {
    const what = route.pattern
    const reason = route.kind === 'handler' ? handlerFault(route) : await pageFault(route, facts)
    if (reason !== undefined) {
      onFault({ what, reason })
      continue
    }
    const kind = route.kind === 'handler' ? 'file' : 'page'
    if (!route.dynamic) yield { path: href(what), what, kind }
    else yield* listedPaths(route, table, onFault)
  }
}

function handlerFault(route: Route): string | undefined {
  const { dynamic, pattern } = route
  const isFile = !dynamic && /\.[^/.]+$/.test(pattern)
  return isFile ? guardFault(route) : `a handler answers it, ${NEEDS_SERVER}`
}

function guardFault({ chain }: Route): string | undefined {
  return chain.some((entry) => entry.definition.guard !== undefined) ? `it has a guard, ${NEEDS_SERVER}` : undefined
}

async function pageFault(route: Route, { actionSegments }: SiteFacts): Promise<string | undefined> {
  const { chain, key, definition } = route
  const guarded = guardFault(route)
  if (guarded !== undefined) return guarded
  if (definition.variants !== undefined) return `it has variants, and each needs a server that chooses`
  const ids = [...chain.map((entry) => layoutId(entry.key)), pageId(key)]
  if (ids.some((id) => actionSegments.includes(id))) return 'it has actions, which need a server'
  const modules = await Promise.all(
    [definition.loader, ...chain.map((entry) => entry.definition.layoutLoader)].map((load) => load?.()),
  )
  if (modules.some((module) => Object.keys(module ?? {}).some((name) => /^(?:v|layoutV)isitor$/.test(name))))
    return `it has a slot of the visitor, ${NEEDS_SERVER}`
  const [own] = modules as readonly (ServerModule | undefined)[]
  return own?.search === undefined ? undefined : 'it depends on the query: its loader has a schema for search params'
}

/** The paths of a pattern with params. */
async function* listedPaths(
  route: Route,
  { match }: Pick<RouteTable, 'match'>,
  onFault: (fault: ExportFault) => void,
): AsyncGenerator<SitePath> {
  const { pattern: what } = route
  const module = (await route.definition.loader?.()) as ServerModule | undefined
  const listed = module?.paths === undefined ? productOf(route) : undefined
  if (module?.paths === undefined && listed === undefined)
    return onFault({ what, reason: 'it has params, and its loader module exports no paths()' })
  try {
    for await (const params of listed ?? (await module?.paths?.()) ?? []) {
      const path = pathOf(what, params)
      if (typeof path !== 'string') onFault(path)
      else if (match(path)?.route === route) yield { path, what, kind: 'page' }
      else onFault({ what: path, reason: `paths() of ${what} lists it, and the table leads it elsewhere` })
    }
  } catch (thrown) {
    onFault({ what, reason: `paths() has failed: ${thrown instanceof Error ? thrown.message : String(thrown)}` })
  }
}

function pathOf(pattern: string, params: PathParams): string | ExportFault {
  try {
    const path: string = href(pattern, params)
    if (!path.split('/').includes(NO_SEGMENT)) return path
    return { what: pattern, reason: `paths() has given ${show(params)}: no path can contain one of these texts` }
  } catch (thrown) {
    if (thrown instanceof HrefError)
      return { what: pattern, reason: `paths() has given ${show(params)}: ${thrown.message}` }
    throw thrown
  }
}

function show(params: unknown): string {
  return JSON.stringify(params)?.slice(0, 200) ?? String(params)
}

/** All combinations, if each param is limited to a list. */
function productOf({ segments, lists }: Route): readonly PathParams[] | undefined {
  let all: readonly PathParams[] = [{}]
  for (const segment of segments) {
    if (segment.kind === 'static') continue
    const values = (lists as ParamLists | undefined)?.[segment.name]
    if (segment.kind !== 'param' || values === undefined) return undefined
    all = all.flatMap((params) => values.map((value) => ({ ...params, [segment.name]: value })))
  }
  return all
}

/** Of rules that have one path. Those with patterns have any number, and those with conditions need a server. */
function* rulePaths(
  { redirects = [], rewrites = [] }: RuleSet,
  onFault: (fault: ExportFault) => void,
): Generator<SitePath> {
  const isList = (given: typeof rewrites): given is readonly RewriteRule[] => Array.isArray(given)
  const all = isList(rewrites) ? rewrites : Object.values(rewrites).flat()
  const kinds = [
    ['redirect', redirects],
    ['rewrite', all],
  ] as const
  for (const [kind, rules] of kinds) {
    for (const { source, destination, has, missing } of rules) {
      const what = `${kind} ${source}`
      const isOne = !/[:*+?(){}\\]/.test(source)
      const reason = !isOne
        ? 'its source has any number of paths'
        : (has ?? missing) !== undefined
          ? `it has conditions, ${NEEDS_SERVER}`
          : kind === 'rewrite' && /^https?:/i.test(destination)
            ? `another server answers it`
            : kind === 'redirect' && /\.(?!html?$)[^/.]+$/i.test(source)
              ? 'a redirect becomes a page, and this name is that of another kind of file'
              : undefined
      if (reason === undefined) yield { path: new URL(source, 'http://here.invalid').pathname, what, kind: 'page' }
      else onFault({ what, reason })
    }
  }
}
