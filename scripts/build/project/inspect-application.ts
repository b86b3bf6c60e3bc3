/**
 * Runs in a separate process with the bundle of `readApplication`: the application's modules are evaluated there, and
 * everything that they open or leave running ends with it.
 */
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { compileRules, type CompiledRules } from '../../../src/shared/rules/compile-rules.ts'
import type { RouteDefinitions, SegmentDefinition } from '../../../src/shared/route-definition.ts'
import type { ConditionalRule, RuleTable } from '../../../src/shared/rules/rule-table.ts'
import type { RewritePhases, RewriteRule, RuleSet } from '../../../src/shared/rules/rule-types.ts'
import { validateRouteTable } from '../../../src/shared/route-table-faults.ts'
import { inspectActions, type LoadActions } from './inspect-actions.ts'

/** The modules of one table entry: kind (`page`, `layout`, …) to the source's path in the project. */
type SegmentSources = Readonly<Record<string, string>>

/** What an entry says of its URLs. */
type EntryUrls = Pick<SegmentDefinition, 'params' | 'linked' | 'cache' | 'shell'>

/** Contents of an application. */
export interface ApplicationFacts {
  /** Modules of the table by pattern and kind; paths in the project. */
  readonly sources: Readonly<Record<string, SegmentSources>>
  /** Of entries that say something of their URLs, by pattern. */
  readonly urls: Readonly<Record<string, EntryUrls>>
  /** Names of the variants of kept pages, by pattern. */
  readonly variants: Readonly<Record<string, readonly string[]>>
  /** Each rule: its source, and its effect. */
  readonly rules: readonly (readonly [source: string, effect: string])[]
  /** Whether browsers report errors. */
  readonly hasReports: boolean
  /** Warnings about rules that refuse requests of ordinary length. */
  readonly narrowRules: readonly string[]
}

/** Result for the parent process. */
export type InspectionReport =
  | ApplicationFacts
  /** With the entry of the table whose fault it is, if it is one's. */
  | { readonly fault: string; readonly key?: string; readonly member?: string }
  | { readonly failure: string }

/** Messages to the parent process: the report is the last one. */
export type InspectionMessage =
  | InspectionReport
  /** Path in the project of the module that is evaluated next; `app.ts` at first. */
  | { readonly evaluating: string }

/** Thrown here for faults that the shared checks cannot know. */
class ApplicationFault extends Error {
  override readonly name = 'ApplicationFault'
  readonly entry: { readonly key: string; readonly member: string } | undefined

  constructor(message: string, entry?: { readonly key: string; readonly member: string }) {
    super(message)
    this.entry = entry
  }
}

/** Errors whose messages the application's author can understand. */
const FAULTS = new Set(['ApplicationFault', 'RouteTableError', 'RuleError'])

interface ApplicationBundle {
  readonly app?: {
    readonly routes?: RouteDefinitions
    readonly document?: unknown
    readonly rules?: RuleSet
    readonly reports?: unknown
  }
  readonly routes?: RouteDefinitions
  readonly actions?: Readonly<Record<string, LoadActions>>
}

async function inspect(bundle: string, tell: (message: InspectionMessage) => Promise<void>): Promise<InspectionReport> {
  try {
    const { app, routes, actions = {} }: ApplicationBundle = await import(pathToFileURL(bundle).href)
    if (routes === undefined)
      throw new ApplicationFault('routes.ts must export the table: export const routes = defineRoutes({ … })')
    if (app === undefined)
      throw new ApplicationFault('app.ts must have a default export: export default defineApp({ … })')
    if (typeof app.document !== 'function') throw new ApplicationFault('app.ts: defineApp needs a document component')
    validateRouteTable(routes)
    requireSameTable(app.routes ?? {}, routes)
    const rules = compileRules(app.rules, loadExpressionEngine)
    const sources = await readSources(routes)
    const fault = await inspectActions(actions, (evaluating) => tell({ evaluating }))
    return fault === undefined
      ? {
          sources,
          urls: urlsOf(routes),
          variants: variantsOf(routes),
          rules: describeRules(app.rules),
          hasReports: app.reports !== false,
          narrowRules: narrowRules(rules),
        }
      : { fault }
  } catch (error) {
    if (error instanceof Error && FAULTS.has(error.name)) return { fault: error.message, ...entryOf(error) }
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** The entry that a fault is about. Of two that conflict, the second one. */
function entryOf(error: Error): { readonly key?: string; readonly member?: string } {
  if (error instanceof ApplicationFault) return error.entry ?? {}
  const key =
    'patterns' in error && Array.isArray(error.patterns) ? (error.patterns as readonly unknown[]).at(-1) : undefined
  return typeof key === 'string' ? { key } : {}
}

const NARROW = 600 // characters: expressions of 1,000 steps and more; ordinary queries and cookies are longer

function narrowRules(tables: CompiledRules): readonly string[] {
  return Object.entries<RuleTable<ConditionalRule>>({ ...tables }).flatMap(([list, { rules }]) =>
    rules.flatMap(({ source, conditions }, index) => {
      const longest = Math.min(source.longest, conditions.longest)
      if (longest > NARROW) return []
      return (
        `▲ [WARNING] ${list}[${index}] (source "${source.text}") has an expression of so many steps that a request ` +
        `with a longer text than ${longest} characters is refused by 414 or 431. Use + or * in place of large counts.`
      )
    }),
  )
}

function describeRules({ redirects = [], rewrites = [], headers = [] }: RuleSet = {}): ApplicationFacts['rules'] {
  const phases = 'beforeFiles' in rewrites || 'afterFiles' in rewrites || 'fallback' in rewrites ? rewrites : undefined
  const all = phases === undefined ? [rewrites as readonly RewriteRule[]] : Object.values(phases as RewritePhases)
  return [
    ...redirects.map((rule) => {
      const status = rule.statusCode ?? (rule.permanent ? 308 : 307)
      return [rule.source, `redirects to ${rule.destination} (${status})`] as const
    }),
    ...all.flat().map((rule) => [rule.source, `shows ${rule.destination}`] as const),
    ...headers.map((rule) => [rule.source, `sets ${rule.headers.map(({ key }) => key).join(', ')}`] as const),
  ]
}

/** The browser uses `routes.ts`, the server `app.ts`: with different tables they would disagree about every URL. */
function requireSameTable(ofApp: RouteDefinitions, ofRoutes: RouteDefinitions): void {
  const [app, routes] = [ofApp, ofRoutes].map((table) => Object.keys(table))
  const odd = app?.find((key) => !routes?.includes(key)) ?? routes?.find((key) => !app?.includes(key))
  if (odd === undefined) return
  throw new ApplicationFault(
    `app.ts and routes.ts have different tables: '${odd}' is in one of them only. Hand the routes of routes.ts to defineApp.`,
  )
}

function urlsOf(routes: RouteDefinitions): ApplicationFacts['urls'] {
  const entries = Object.entries(routes).flatMap(([pattern, { params, linked, cache, shell }]) => {
    const said: EntryUrls = {
      ...(params && { params }),
      ...(linked === false && { linked }),
      ...(cache && { cache }),
      ...(shell && { shell }),
    }
    return Object.keys(said).length === 0 ? [] : [[pattern, said] as const]
  })
  return Object.fromEntries(entries)
}

function variantsOf(routes: RouteDefinitions): ApplicationFacts['variants'] {
  const named = Object.entries(routes).flatMap(([pattern, { variants }]) =>
    variants === undefined ? [] : [[pattern, Object.keys(variants)] as const],
  )
  return Object.fromEntries(named)
}

/** In this bundle every `import()` of a table resolves to a marker that names its source. */
async function readSources(routes: RouteDefinitions): Promise<Record<string, SegmentSources>> {
  const sources: Record<string, SegmentSources> = {}
  for (const [pattern, definition] of Object.entries(routes)) {
    const ofPattern: Record<string, string> = {}
    const {
      params: _params,
      linked: _linked,
      cache: _cache,
      variants: _variants,
      shell: _shell,
      ...modules
    } = definition
    for (const [kind, load] of Object.entries(modules)) {
      const loaded: unknown = typeof load === 'function' ? await load() : undefined
      const source =
        loaded !== null && typeof loaded === 'object' && 'millraceSource' in loaded ? loaded.millraceSource : undefined
      if (typeof source !== 'string') {
        throw new ApplicationFault(
          `Route table: '${pattern}': ${kind} must be written as () => import('./file') in a file named routes.ts, ` +
            'so that the build finds its chunk.',
          { key: pattern, member: kind },
        )
      }
      ofPattern[kind] = source
    }
    sources[pattern] = ofPattern
  }
  return sources
}

if (process.send !== undefined) {
  process.once('disconnect', () => process.exit())
  const [bundle] = await once(process, 'message')
  const tell = (message: InspectionMessage): Promise<void> =>
    new Promise((told) => {
      process.send?.(message, () => told())
    })
  await tell(await inspect(String(bundle), tell))
  process.exit()
}

/** Modules of the table by pattern and kind; paths in the project. */
export type RouteSources = Readonly<Record<string, SegmentSources>>
