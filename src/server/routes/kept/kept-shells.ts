import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { viewModules, type RouteView } from '../../../client/react/route-view.ts'
import type { OpenPromise } from '../../../shared/protocol/value-frames.ts'
import type { RawSearch } from '../../../shared/raw-search.ts'
import type { ServerModule } from '../../api/loader-types.ts'
import { mainOrigin } from '../../http/public-origins.ts'
import type { RequestContext } from '../../request/context.ts'
import { sessionsAfter } from '../../request/noted-sessions.ts'
import { VisitorContext } from '../../request/visitor-context.ts'
import { LearnedSlots } from '../../request/learned-slots.ts'
import type { KeptDocument } from '../../stores/cache/document-cache.ts'
import type { AskedDocument } from '../../stores/cache/document-names.ts'
import type { StoredPage, StoredShell, StoredValues } from '../../stores/cache/stored-shell.ts'
import { trackSearch, type SearchListener } from '../../values/track-search.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import { serverParts } from '../load/segment-loaders.ts'
import { startVisitors } from '../load/start-visitors.ts'
import { visitorOf } from '../load/visitor-call.ts'
import { isAdmitted, type PageParts } from '../render/serve-page.ts'
import { cacheStatus, statusText, type KeptStatus } from '../../request/answer/cache-status.ts'
import type { AskedData, StartedSlots, Visit } from './document-makings.ts'

/** A kept page whose slots are for its visitors. */
interface FoundShell {
  readonly kept: KeptDocument
  readonly shell: StoredShell
  readonly status: KeptStatus
}

/** Answers visitors of kept pages with slots of their own. */
export interface KeptShells {
  /** What the slots of a route have shown so far. */
  learnedOf(page: MatchedRoute): LearnedSlots
  /** Whether a page has something of its visitors. */
  has(page: MatchedRoute): Promise<boolean>
  /** @returns `false` if the page was dropped before it could be sent. Does not reject. */
  serve(visit: Visit, found: FoundShell): Promise<boolean>
}

/** Creates the answers with slots. */
export function createKeptShells(parts: PageParts): KeptShells {
  const { modules, config, renderer, documents } = parts
  /** By key. Bound: one entry per route. */
  const learned = new Map<string, LearnedSlots>()
  return {
    learnedOf({ route }) {
      const known = learned.get(route.key) ?? new LearnedSlots()
      learned.set(route.key, known)
      return known
    },
    has: (page) => hasSlots(page, modules),
    async serve(visit, { kept, shell, status }) {
      const { page, context, data: asked, asked: document } = visit
      if (!(await hasPlace(parts, page, context, asked))) return true
      const { route, params } = page
      await modules.load([...serverParts(route).modules, ...viewModules(route)])
      const stored = await shell.values.read()
      if (asked !== undefined) await openAhead(page, context)
      if (context.aborted !== undefined) return true
      if (kept.isDropped && !visit.takesDropped) return false
      context.audience.guarded = true // no cache sends it to others, whatever header the cache uses
      context.startDeadline(config.renderTimeoutMs)
      context.record.cache = statusText(status)
      const about = ['Age', String(Math.floor(kept.ageMs / 1_000)), 'Cache-Status', cacheStatus(status)]
      const start = (): StartedSlots =>
        startSlots({ page, values: shell.values, stored, ids: asked?.ids }, modules, context)
      if (asked !== undefined) await asked.withSlots(shell, start(), about)
      else {
        const search = watchedSearch(document, stored, shell, (note) => {
          if (context.audience.learned !== undefined) note(context.audience.learned.search)
          documents.remove(document)
        })
        const origin = mainOrigin(config.origins)
        const view: RouteView = { chain: route.chain, params, data: stored.data, search, origin }
        renderer.resume({ shell, view, about, start }, context)
      }
      return true
    },
  }
}

/**
 * The search params of a shell for components in its slots. If they read one that the URL has and the shell does not, the
 * document differs from now on; this visitor gets what the shell says, because the browser starts with that.
 * @param learn receives what to note of the page.
 */
function watchedSearch(
  { search: own }: AskedDocument,
  { search }: StoredPage,
  { isParsed }: StoredShell,
  learn: (note: (uses: SearchListener) => void) => void,
): unknown {
  if (isParsed) return search
  const kept = search as RawSearch
  const isMissing = (key: string): boolean => Object.hasOwn(own, key) && !Object.hasOwn(kept, key)
  if (!Object.keys(own).some(isMissing)) return search
  return trackSearch(kept, {
    useParam: (key) => void (isMissing(key) && learn((uses) => uses.useParam(key))),
    useAll: () => learn((uses) => uses.useAll()),
  })
}

async function hasPlace(
  parts: PageParts,
  page: MatchedRoute,
  context: RequestContext,
  asked: AskedData | undefined,
): Promise<boolean> {
  if (asked === undefined) return isAdmitted(parts, page, context)
  const { admission } = parts
  const shed = (await admission.enter(context)) ?? (await admission.turn(context))
  if (shed !== undefined) asked.refuse(503, shed.headers)
  return shed === undefined
}

/** The page of a kept shell. */
interface StoredSlots {
  readonly page: MatchedRoute
  readonly values: StoredValues
  readonly stored: StoredPage
  readonly ids: readonly string[] | undefined
}

/**
 * Opens the sessions that functions `visitor` of the page have ever opened, so that the first line of the answer says for
 * which it is made. Also those of segments that are not asked for: what the browser has of them may be of another session.
 */
async function openAhead({ route }: MatchedRoute, context: RequestContext): Promise<void> {
  const { audience } = context
  const { kinds = [] } = audience.learned ?? {}
  if (kinds.length === 0 || audience.openedAhead !== undefined) return
  const own = new VisitorContext(context, `visitor of ${route.pattern}`)
  const opened = new Map(kinds.map((kind) => [kind, (async () => kind.open(own))()]))
  const left = new Promise((resolve) => context.onAbort(resolve))
  await Promise.race([Promise.allSettled(opened.values()), left])
  audience.openedAhead = opened
}

function startSlots(
  { page, values, stored, ids }: StoredSlots,
  modules: ModuleCache,
  context: RequestContext,
): StartedSlots {
  const data: Record<string, unknown> = { ...stored.data }
  const open: OpenPromise[] = []
  for (const [id, promise] of startVisitors(page, { slots: values.slots, stored, ids }, { context, modules })) {
    data[id] = { ...(data[id] as object), visitor: promise }
    open.push([values.slots.get(id) ?? 0, promise])
  }
  const late = sessionsAfter(
    open.map(([, promise]) => promise),
    context,
  )
  return { data, search: stored.search, open: [...open, [values.late, late]] }
}

async function hasSlots({ route }: MatchedRoute, modules: ModuleCache): Promise<boolean> {
  const { loaders, modules: named } = serverParts(route)
  await modules.load(named)
  return loaders.some((loader) => visitorOf(loader, modules.get(loader.module) as ServerModule) !== undefined)
}
