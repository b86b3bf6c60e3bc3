/**
 * Resolves a request, in the order of Next.js: `beforeFiles`, pages of exactly that path, `afterFiles`, pages with
 * params, `fallback`. After a rewrite that matches no page, the following rules apply.
 */
import type { CompiledRewrite, CompiledRules } from './compile-rules.ts'
import type { FaultyDestination } from './destination-fault.ts'
import type { RuleRequest, RuleSubject } from './rule-request.ts'
import type { RuleHit, RuleTable } from './rule-table.ts'
import { hidesSlash, mayClimb } from './climbing-path.ts'
import { faultyDestination } from './destination-fault.ts'
import { fillDestination } from './destination.ts'
import { formatQuery } from './query-pairs.ts'
import { rewrittenSubject, subjectOf } from './rule-request.ts'

/** The route table's result for a path; `RouteMatch` is one. */
interface RouteOutcome {
  /** The route matches, but a value does not decode. */
  readonly error?: 'undecodable' | undefined
}

/** Result for a request. */
export type Resolution<Found extends RouteOutcome> =
  | {
      readonly kind: 'route'
      readonly match: Exclude<Found, { readonly error: 'undecodable' }>
      /** After rewriting; still percent-encoded. */
      readonly pathname: string
      /** After rewriting, raw: `''`, or the query after its `?`. */
      readonly search: string
    }
  /** Another origin answers. */
  | {
      readonly kind: 'proxy'
      readonly url: URL
      /** Whether pages of other sites may open WebSockets there. */
      readonly crossSite: boolean
    }
  /** 400: the path of a matching route does not decode. */
  | { readonly kind: 'undecodable' }
  /** A rewrite applies, but its destination is unusable. */
  | ({ readonly kind: 'bad-destination' } & FaultyDestination)
  /** 404. */
  | { readonly kind: 'none' }

/** Finds the route for a normalised, still encoded path; among all routes, or only those without or with params. */
type FindRoute<Found> = (pathname: string, only?: 'static' | 'dynamic') => Found | undefined

/** State of a request between two phases. */
interface Stand {
  readonly subject: RuleSubject
  readonly pathname: string
  readonly search: string
}

type Rewritten = { readonly stand: Stand; readonly end?: undefined } | { readonly end: Ending }
type Ending = Extract<Resolution<never>, { kind: 'proxy' | 'bad-destination' }>

/**
 * Resolves a request by rewrites and routes, after redirects.
 * @param asked subject of the request, if it exists already.
 */
export function resolveRoute<Found extends RouteOutcome>(
  rules: CompiledRules,
  match: FindRoute<Found>,
  request: RuleRequest,
  asked: RuleSubject = subjectOf(request),
): Resolution<Found> {
  const { beforeFiles, afterFiles, fallback } = rules
  const { pathname, search } = request
  if (beforeFiles.size + afterFiles.size + fallback.size === 0) {
    const found = match(pathname)
    return found === undefined ? { kind: 'none' } : settled(found, pathname, search)
  }

  const untouched: Stand = { subject: asked, pathname, search }
  const before = walk<Found>(beforeFiles, untouched, () => undefined)
  if ('kind' in before) return before
  const page = match(before.pathname, 'static')
  if (page !== undefined) return settled(page, before.pathname, before.search)
  const after = walk(afterFiles, before, match)
  if ('kind' in after) return after
  const dynamic = match(after.pathname)
  if (dynamic !== undefined) return settled(dynamic, after.pathname, after.search)
  const last = walk(fallback, after, match)
  return 'kind' in last ? last : { kind: 'none' }
}

/** Applies the rules of one phase in order, up to the first that leads to a route or another origin. */
function walk<Found extends RouteOutcome>(
  table: RuleTable<CompiledRewrite>,
  stand: Stand,
  match: FindRoute<Found>,
): Stand | Resolution<Found> {
  for (let hit = table.find(stand.subject, 0); hit; hit = table.find(stand.subject, hit.index + 1)) {
    const rewritten = rewrite(hit, stand)
    if (rewritten.end !== undefined) return rewritten.end
    stand = rewritten.stand
    const found = match(stand.pathname)
    if (found !== undefined) return settled(found, stand.pathname, stand.search)
  }
  return stand
}

function settled<Found extends RouteOutcome>(found: Found, pathname: string, search: string): Resolution<Found> {
  if (found.error !== undefined) return { kind: 'undecodable' }
  return { kind: 'route', match: found as Exclude<Found, { readonly error: 'undecodable' }>, pathname, search }
}

function rewrite({ rule, captures }: RuleHit<CompiledRewrite>, { subject }: Stand): Rewritten {
  const filled = fillDestination(rule.destination, captures, subject.query(), true)
  if (filled.fault !== undefined) return refused(filled.fault, rule)
  const search = formatQuery(filled.query)
  if (filled.origin === '') {
    const pathname = filled.pathname.replace(/(?<=.)\/$/, '')
    return { stand: { subject: rewrittenSubject(subject.request, pathname, filled.query), pathname, search } }
  }
  if (mayClimb(filled.pathname) || (!rule.encodedSlashes && hidesSlash(filled.chosen))) {
    return refused('bad-path-value', rule)
  }
  const url = new URL(`${filled.origin}${filled.pathname}${search}`)
  return { end: { kind: 'proxy', url, crossSite: rule.crossSite } }
}

function refused(fault: FaultyDestination['fault'], { source }: CompiledRewrite): Rewritten {
  return { end: { kind: 'bad-destination', ...faultyDestination(fault, source.text) } }
}
