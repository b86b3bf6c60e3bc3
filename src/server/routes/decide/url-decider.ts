import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import { isUnderBasePath, withoutBasePath } from '../../../shared/base-path.ts'
import type { RouteMatch, RouteTable } from '../../../shared/route-table.ts'
import type { CompiledRules } from '../../../shared/rules/compile-rules.ts'
import { headersFor } from '../../../shared/rules/headers-for.ts'
import { readRulePath } from '../../../shared/rules/rule-path.ts'
import { LongTextError } from '../../../shared/rules/long-text-error.ts'
import { redirectFor } from '../../../shared/rules/redirect-for.ts'
import { resolveRoute } from '../../../shared/rules/resolve-route.ts'
import { subjectOf, type RuleRequest, type RuleSubject } from '../../../shared/rules/rule-request.ts'
import { addVary } from '../../request/answer/answer-headers.ts'
import type { RequestContext } from '../../request/context.ts'
import type { RequestJudge } from '../../request/judge-request.ts'
import { refusedRule, refusedText, UNDECODABLE, unmatchedRoute, type Decision } from './decision.ts'
import { matchStaticFirst } from './static-paths.ts'

const LONG_PATH = 1_024 // characters; expressions may read a long one for a millisecond

/** Decides what answers a URL, by the rules and the table of an application. */
export interface UrlDecider {
  /**
   * Decides for a request. Also adds the headers of header rules, unless data is asked for; and to `Vary` everything that
   * conditions read, whether they hold or not, so that no cache sends the answer to visitors for whom they differ.
   */
  decide(context: RequestContext): Decision
  /** Whether a redirect, a rewrite or the table answers a request for this URL. */
  answers(req: IncomingMessage, url: AskedUrl): boolean
  /**
   * Whether a request as it arrives from the socket may lead to another origin, by its path alone: Node asks while it reads
   * the head, outside of all turns, and middleware and conditions are asked later.
   */
  mayLeadElsewhere(req: IncomingMessage): boolean
}

/** The URL of a request, as the guard leaves it. */
interface AskedUrl extends Pick<RuleRequest, 'pathname' | 'search' | 'host'> {
  readonly dotSegments: boolean
}

/** Binds compiled rules to a table. */
export function createUrlDecider(rules: CompiledRules, table: RouteTable, judge: RequestJudge): UrlDecider {
  const match = matchStaticFirst(table)
  const unmatched = unmatchedRoute(table)
  const { redirects, beforeFiles, afterFiles, fallback, headers } = rules
  const rewrites = [beforeFiles, afterFiles, fallback]
  const hasProxies = rewrites.some((phase) => phase.rules.some(({ destination }) => destination.host !== undefined))
  const hasRules = redirects.size + beforeFiles.size + afterFiles.size + fallback.size + headers.size > 0

  function matched(found: RouteMatch | undefined, search: string): Decision {
    if (found === undefined) return { ...unmatched, search }
    if (found.error !== undefined) return UNDECODABLE
    const { route, params } = found
    return { kind: route.kind, route, params, search }
  }

  /** @param prepare is done first. */
  function decideBy(asked: RuleSubject, prepare?: () => void): Decision {
    try {
      prepare?.()
      return decideByRules(asked)
    } catch (thrown) {
      if (thrown instanceof LongTextError) return refusedText(thrown)
      throw thrown
    }
  }

  function decideByRules(asked: RuleSubject): Decision {
    const { request } = asked
    const redirect = redirectFor(rules, request, asked)
    if (redirect?.fault !== undefined) return refusedRule('redirect', redirect)
    if (redirect !== undefined) return { kind: 'redirect', ...redirect }
    const resolution = resolveRoute(rules, match, request, asked)
    switch (resolution.kind) {
      case 'route':
        return matched(resolution.match, resolution.search)
      case 'none':
        return matched(undefined, request.search)
      case 'undecodable':
        return UNDECODABLE
      case 'bad-destination':
        return refusedRule('rewrite', resolution)
      case 'proxy':
        return resolution
    }
  }

  return {
    decide(context) {
      if (context.hasDotSegments) return matched(undefined, context.search)
      if (!hasRules) return matched(match(context.pathname), context.search)
      const asked = subjectFor(context)
      return decideBy(asked, () => {
        if (context.data === undefined) addRuledHeaders(rules, asked, context)
      })
    },
    answers: (req, { dotSegments, ...url }) =>
      !dotSegments && decideBy(subjectOf(ruleRequest(req, url))).kind !== 'none',
    mayLeadElsewhere(req) {
      if (!hasProxies) return false
      const { target, refusal } = judge(req)
      if (refusal !== undefined || target.kind !== 'ok' || target.dotSegments) return false
      if (!isUnderBasePath(target.pathname)) return false
      if (target.pathname.length > LONG_PATH) return true
      const path = readRulePath(withoutBasePath(target.pathname))
      return rewrites.some((phase) => phase.concerns(path))
    },
  }
}

function addRuledHeaders(rules: CompiledRules, asked: RuleSubject, context: RequestContext): void {
  for (const [name, value] of headersFor(rules, asked.request, asked)) {
    if (name.toLowerCase() === 'vary') addVary(context.res, value)
    else context.res.appendHeader(name, value)
  }
}

function subjectFor({ req, res, pathname, search, clientAddress }: RequestContext): RuleSubject {
  return subjectOf(
    ruleRequest(req, { pathname, search, host: clientAddress.host }, (name) => {
      if (!res.headersSent) addVary(res, name)
    }),
  )
}

/** @param onRead called with the name of each header that a condition reads. */
function ruleRequest(
  req: IncomingMessage,
  url: Pick<RuleRequest, 'pathname' | 'search' | 'host'>,
  onRead?: (name: string) => void,
): RuleRequest {
  let cookies: Readonly<Record<string, string>> | undefined
  return {
    ...url,
    header(name) {
      onRead?.(name)
      const value = req.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    cookies() {
      onRead?.('Cookie')
      return (cookies ??= parseCookie(req.headers.cookie ?? '') as Record<string, string>)
    },
  }
}
