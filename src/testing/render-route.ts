import type { Params } from '../shared/route-pattern.ts'
import type { ModuleLoader } from '../shared/route-definition.ts'
import type { RoutePattern } from '../shared/registered-table.ts'
import { href, type HrefSearch } from '../shared/href.ts'
import { createRouteTable, type Route } from '../shared/route-table.ts'
import { createTestApp } from './create-test-app.ts'
import type { TestDefinition } from './test-app.ts'
import { readHtml, type HtmlPage } from './html-page.ts'
import type { LogEntry } from './test-log.ts'

/** Options of `renderRoute`. */
export interface RenderRouteOptions<Pattern extends string = string> {
  /** The default export of `app.ts`, or a table with the route: `{ routes }`. */
  readonly app: TestDefinition
  /** Params of the pattern. */
  readonly params?: Params<Pattern> | undefined
  /**
   * Configuration and the application's own variables, as in the environment of a server. Without it, the variables of
   * `defineEnv` are not checked, because no loader needs them.
   */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** Search params. Default: none. */
  readonly search?: HrefSearch | undefined
  /** What the page gets instead of its loader's result; a function is called as a loader, and may throw `notFound()`. */
  readonly data?: unknown
  /** The same for the layouts around it that have a loader, by their key in the table: `{ '/account': { user } }`. */
  readonly layouts?: Readonly<Record<string, unknown>> | undefined
}

/** A route's document. */
export interface RenderedRoute extends HtmlPage {
  /** HTTP status of the answer. */
  readonly status: number
  readonly headers: Headers
  /** The server's log: the cause of a failure is in it. */
  readonly logs: readonly LogEntry[]
}

/**
 * Renders one route with its layouts, fallbacks, head and document, as its visitor would get it, from the given data. No
 * loader or guard of the table runs, and neither do rules, middleware and `start`; the schema of the page's search params does.
 * @param pattern as in the table, without groups.
 * @throws {Error} for a pattern that is no page of the table, and for loaders whose data is missing.
 */
export async function renderRoute<Pattern extends RoutePattern>(
  pattern: Pattern,
  options: RenderRouteOptions<NoInfer<Pattern>>,
): Promise<RenderedRoute>
// A signature of its own: in here the compiler would go through the params of every pattern.
export async function renderRoute(pattern: string, options: RenderRouteOptions): Promise<RenderedRoute> {
  const { app, params, search, environment } = options
  const routes = withData(app.routes, pageOf(app, pattern), options)
  const { rules: _rules, middleware: _middleware, start: _start, env, ...rest } = app
  await using server =
    environment === undefined
      ? createTestApp({ ...rest, routes })
      : createTestApp({ ...rest, ...(env === undefined ? {} : { env }), routes }, { environment })
  const path = (href as (pattern: string, params?: Params<string>, search?: HrefSearch) => string)(
    pattern,
    params,
    search,
  )
  const answer = await fetch((await server.origin()) + path, { redirect: 'manual', headers: { Accept: 'text/html' } })
  const page = await readHtml(await answer.text())
  return { ...page, status: answer.status, headers: answer.headers, logs: server.logs }
}

function pageOf({ routes }: TestDefinition, pattern: string): Route {
  const table = createRouteTable(routes).routes
  const route = table.find((one) => one.pattern === pattern)
  if (route?.kind === 'page') return route
  const fault = route === undefined ? 'is not in the table' : 'is a handler, which renders nothing'
  const pages = table.flatMap((one) => (one.kind === 'page' ? one.pattern : []))
  const more = pages.length > MOST_NAMED ? ', …' : ''
  throw new Error(`${pattern} ${fault}. Its pages are ${pages.slice(0, MOST_NAMED).join(', ')}${more}`)
}

const MOST_NAMED = 30 // nobody reads more

type Routes = TestDefinition['routes']

/** The table with the given data in place of the loaders around a page. */
function withData(routes: Routes, { key: page, pattern, chain }: Route, options: RenderRouteOptions): Routes {
  const { layouts = {} } = options
  const withLoader = chain.filter(({ definition }) => definition.layoutLoader !== undefined).map(({ key }) => key)
  const missing = withLoader.filter((key) => !Object.hasOwn(layouts, key))
  if (missing.length > 0) {
    throw new Error(
      `${pattern} is inside of layouts with loaders. Give their data: layouts: { ${missing.map((key) => `'${key}': …`).join(', ')} }`,
    )
  }
  const stranger = Object.keys(layouts).find((key) => !withLoader.includes(key))
  if (stranger !== undefined) throw new Error(`No layout around ${pattern} has the key '${stranger}' and a loader.`)
  const own = routes[page]?.loader
  if (own !== undefined && !Object.hasOwn(options, 'data')) {
    throw new Error(`${pattern} has a loader. Give its data: renderRoute('${pattern}', { app, data: … })`)
  }
  // A guard would ask for a visitor, and there is none.
  const open = Object.fromEntries(
    Object.entries(routes).map(([key, { guard: _guard, ...rest }]) => [key, rest] as const),
  )
  const given = withLoader.map((key) => [key, { ...open[key], layoutLoader: moduleOf(layouts[key]) }] as const)
  const changed = { ...open, ...Object.fromEntries(given) }
  return own === undefined ? changed : { ...changed, [page]: { ...changed[page], loader: moduleOf(options.data, own) } }
}

/** A server module that gives this data, and the search schema of the one that it replaces. */
function moduleOf(data: unknown, replaced?: ModuleLoader) {
  const loader = typeof data === 'function' ? data : () => data
  return async () => {
    const { search, ...rest } = ((await replaced?.()) ?? {}) as Readonly<Record<string, unknown>>
    return {
      loader,
      ...(search === undefined ? {} : { search }),
      ...('guards' in rest ? { guards: rest['guards'] } : {}),
    }
  }
}
