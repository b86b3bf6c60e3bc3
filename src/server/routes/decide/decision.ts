import type { Route, RouteTable } from '../../../shared/route-table.ts'
import type { FaultyDestination } from '../../../shared/rules/destination-fault.ts'
import type { LongTextError } from '../../../shared/rules/long-text-error.ts'
import type { RuleRedirect } from '../../../shared/rules/redirect-for.ts'
import type { Resolution } from '../../../shared/rules/resolve-route.ts'
import type { LoaderArgs } from '../../api/loader-types.ts'

/** What answers a URL. `createUrlDecider` decides it; documents, data, forms and calls only write it. */
export type Decision = RedirectDecision | RefusedUrl | ProxyTarget | MatchedRoute

/** A redirect rule applies. */
interface RedirectDecision extends Pick<RuleRedirect, 'status' | 'location'> {
  readonly kind: 'redirect'
}

/** The URL, or a rule that applies to it, is faulty. */
interface RefusedUrl {
  readonly kind: 'refused'
  readonly status: FaultyDestination['status'] | LongTextError['status']
  /** For the log. */
  readonly reason: string
  /** For the visitor. */
  readonly text: string
}

/** Target of a rewrite to another origin. */
export type ProxyTarget = Extract<Resolution<never>, { kind: 'proxy' }>

/** The route that answers a URL, and its arguments. */
export interface MatchedRoute {
  /** `none`: no route answers the URL, and `route` is the one of `unmatchedRoute`, to be shown as not found. */
  readonly kind: Route['kind'] | 'none'
  readonly route: Route
  readonly params: LoaderArgs['params']
  /** The query after rewriting: `''` or with its question mark. */
  readonly search: string
}

const BAD_SEQUENCE = 'undecodable percent sequence'

/** The path of the matching route does not decode. */
export const UNDECODABLE: RefusedUrl = { kind: 'refused', status: 400, reason: BAD_SEQUENCE, text: BAD_SEQUENCE }

/** A redirect or rewrite applies, and its destination cannot be used. */
export function refusedRule(what: 'redirect' | 'rewrite', { source, fault, status }: FaultyDestination): RefusedUrl {
  return {
    kind: 'refused',
    status,
    reason: `the ${what} ${source} cannot be filled in: ${fault}`,
    text: status < 500 ? 'Bad request' : `This ${what} is broken`,
  }
}

/** A text of the request is too long for the expression of a rule. */
export function refusedText({ source, status, message }: LongTextError): RefusedUrl {
  return {
    kind: 'refused',
    status,
    reason: `the rule ${source}: ${message}`,
    text: status === 414 ? 'URL too long' : 'Request header fields too large',
  }
}

/**
 * The page for URLs that no route answers: the layout of the entry `/` and its `notFound` fallback. Both may have
 * forms, and the guards of `/` apply.
 */
export function unmatchedRoute({ root }: Pick<RouteTable, 'root'>): MatchedRoute {
  const { page: _page, loader: _loader, handler: _handler, ...definition } = root?.definition ?? {}
  const entry = { key: '/', definition }
  const chain = root === undefined ? [] : [entry]
  return {
    kind: 'none',
    route: { ...entry, pattern: '/', kind: 'page', dynamic: false, segments: [], chain },
    params: {},
    search: '',
  }
}
