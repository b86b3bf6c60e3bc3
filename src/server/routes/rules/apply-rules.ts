import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import { isUnderBasePath, withoutBasePath } from '../../../shared/base-path.ts'
import type { RouteMatch, RouteTable } from '../../../shared/route-table.ts'
import type { CompiledRules } from '../../../shared/rules/compile-rules.ts'
import { headersFor } from '../../../shared/rules/headers-for.ts'
import type { FaultyDestination } from '../../../shared/rules/destination-fault.ts'
import { redirectFor, type RuleRedirect } from '../../../shared/rules/redirect-for.ts'
import { resolveRoute, type Resolution } from '../../../shared/rules/resolve-route.ts'
import { subjectOf, type RuleRequest, type RuleSubject } from '../../../shared/rules/rule-request.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import { addVary } from '../../request/answer/answer-headers.ts'
import { sendLocation, sendText } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import type { RequestJudge } from '../../request/judge-request.ts'
import { upgradeOf } from './pending-upgrade.ts'
import { createProxyAgents } from './proxy-agents.ts'
import type { ProxyFailure } from './proxy-options.ts'
import { isHandshake, proxyUpgrade } from './proxy-upgrade.ts'
import { proxyRequest } from './proxy.ts'
import { matchStaticFirst } from './static-paths.ts'

/** Target of a rewrite to another origin. */
export type ProxyTarget = Extract<Resolution<never>, { kind: 'proxy' }>

/** The rules of an application: from a URL to its route or answer. */
export interface AppRules {
  /**
   * Applies header rules and redirect rules.
   * @returns whether the request has been answered.
   */
  apply(context: RequestContext, asked: RuleSubject): boolean
  /**
   * The facts about a request that rules need, for the other members. Everything that conditions read, whether they
   * hold or not, is added to the answer's `Vary`, so that no cache sends it to visitors for whom they differ.
   */
  subjectOf(context: RequestContext): RuleSubject
  /** The redirect of the first matching rule; sends nothing. */
  redirect(context: RequestContext, asked: RuleSubject): RuleRedirect | FaultyDestination | undefined
  /** Rewrites and matches. */
  resolve(asked: RuleSubject): Resolution<RouteMatch>
  /** Whether a redirect, a rewrite or the table answers a request for this URL. Sends nothing. */
  answers(req: IncomingMessage, url: AskedUrl): boolean
  /** Forwards the request to another origin, with its connection if an upgrade is attached. */
  proxy(target: ProxyTarget, context: RequestContext): Promise<void>
  /** Whether a request is a WebSocket handshake that leads to another origin. */
  shouldUpgrade(req: IncomingMessage): boolean
  /** Closes connections to upstreams, tunnels included. */
  dispose(): void
}

/** The URL of a request, as the guard leaves it. */
export interface AskedUrl extends Pick<RuleRequest, 'pathname' | 'search' | 'host'> {
  readonly dotSegments: boolean
}

/** An upstream that is silent for this long counts as dead. */
const UPSTREAM_TIMEOUT_MS = 30_000

/**
 * Binds compiled rules to a table and to Express.
 * @param origins public origins for checking WebSocket handshakes; empty to accept the request's own host.
 */
export function createAppRules(
  rules: CompiledRules,
  table: RouteTable,
  judge: RequestJudge,
  origins: readonly string[],
): AppRules {
  const agents = createProxyAgents()
  const closing = new AbortController()
  const match = matchStaticFirst(table)

  /** Judged exactly as for a document, but preliminary, because the application's middleware has not run yet. */
  function leadsElsewhere(req: IncomingMessage): boolean {
    const { target, clientAddress, refusal } = judge(req)
    if (refusal !== undefined || target.kind !== 'ok' || target.dotSegments) return false
    // Asked about a request as it comes from the socket.
    if (!isUnderBasePath(target.pathname)) return false
    const url = { pathname: withoutBasePath(target.pathname), search: target.search, host: clientAddress.host }
    const request = ruleRequest(req, url)
    return redirectFor(rules, request) === undefined && resolveRoute(rules, match, request).kind === 'proxy'
  }

  function redirect({ hasDotSegments }: RequestContext, asked: RuleSubject): ReturnType<AppRules['redirect']> {
    return hasDotSegments ? undefined : redirectFor(rules, asked.request, asked)
  }

  async function proxy({ url: target, crossSite }: ProxyTarget, context: RequestContext): Promise<void> {
    const { clientAddress, req, res } = context
    context.record.route = `-> ${target.origin}`
    const options = {
      timeoutMs: UPSTREAM_TIMEOUT_MS,
      forwarded: { for: clientAddress.address, proto: clientAddress.protocol, host: clientAddress.host },
      onFailure: (failure: ProxyFailure) => logUpstream(failure, context),
    }
    const upgrade = upgradeOf(req)
    // Browsers send the visitor's cookies along, and let any page read the answer.
    if (upgrade !== undefined && !crossSite && isForeignCall(context, origins)) {
      context.record.refused = 'a handshake from another site'
      return sendText(context, 403, 'Refused')
    }
    if (upgrade === undefined) return proxyRequest(req, res, target, { ...options, agents })
    const tunnel = new AbortController()
    let forget: (() => void) | undefined
    return proxyUpgrade(req, upgrade, target, {
      ...options,
      res,
      signal: AbortSignal.any([closing.signal, tunnel.signal]),
      onSwitch() {
        context.record.switched = true
        // A tunnel never ends by itself, and its client reconnects: to another instance, or to this server's successor.
        forget = context.services.onDraining(() => tunnel.abort())
      },
    }).finally(() => forget?.())
  }

  return {
    redirect,
    subjectOf: ({ req, res, pathname, search, clientAddress }) =>
      subjectOf(
        ruleRequest(req, { pathname, search, host: clientAddress.host }, (name) => {
          if (!res.headersSent) addVary(res, name)
        }),
      ),
    apply(context, asked) {
      if (context.hasDotSegments) return false
      for (const [name, value] of headersFor(rules, asked.request, asked)) {
        if (name.toLowerCase() === 'vary') addVary(context.res, value)
        else context.res.appendHeader(name, value)
        if (name.toLowerCase() === 'content-security-policy') context.hasRuledPolicy = true
      }
      const found = redirect(context, asked)
      if (found === undefined) return false
      if (found.fault === undefined) sendLocation(context, found.status, found.location)
      else {
        context.record.refused = `the redirect ${found.source} cannot be filled in: ${found.fault}`
        sendText(context, found.status, found.status < 500 ? 'Bad request' : 'This redirect is broken')
      }
      return true
    },
    answers(req, { dotSegments, ...url }) {
      if (dotSegments) return false
      const request = ruleRequest(req, url)
      return redirectFor(rules, request) !== undefined || resolveRoute(rules, match, request).kind !== 'none'
    },
    resolve: (asked) => resolveRoute(rules, match, asked.request, asked),
    proxy,
    shouldUpgrade: (req) => isHandshake(req) && leadsElsewhere(req),
    dispose() {
      closing.abort()
      agents.close()
    },
  }
}

function logUpstream({ status, reason, cause }: ProxyFailure, context: RequestContext): void {
  const message = cause instanceof Error ? cause.message : undefined
  context.log.warn({ status, reason, upstream: context.record.route, message }, 'upstream failed')
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
