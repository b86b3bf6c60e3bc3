import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { parseCookie } from 'cookie'
import type { Logger } from 'pino'
import type { RouteMatch, RouteTable } from '../../shared/route-table.ts'
import type { CompiledRules } from '../../shared/rules/compile-rules.ts'
import { headersFor } from '../../shared/rules/headers-for.ts'
import type { FaultyDestination } from '../../shared/rules/destination-fault.ts'
import { redirectFor, type RuleRedirect } from '../../shared/rules/redirect-for.ts'
import { resolveRoute, type Resolution } from '../../shared/rules/resolve-route.ts'
import { subjectOf, type RuleRequest, type RuleSubject } from '../../shared/rules/rule-request.ts'
import { sendLocation, sendText } from '../render/send-plain.ts'
import type { RequestContext } from '../request/context.ts'
import type { RequestJudge } from '../request/judge-request.ts'
import { createProxyAgents } from './proxy-agents.ts'
import type { Forwarded } from './proxy-headers.ts'
import type { ProxyFailure } from './proxy-options.ts'
import { proxyUpgrade } from './proxy-upgrade.ts'
import { proxyRequest } from './proxy.ts'
import { matchStaticFirst } from './static-paths.ts'

/** The rules of an application, as the way from a URL to what answers it. */
export interface AppRules {
  /**
   * Sets the headers that header rules ask for, and answers with the redirect that a rule asks for.
   * @returns whether the request has been answered.
   */
  apply(context: RequestContext, asked: RuleSubject): boolean
  /** What rules need to know of a request, for the others here. */
  subjectOf(context: RequestContext): RuleSubject
  /** The redirect that a rule asks for; sends nothing. */
  redirect(context: RequestContext, asked: RuleSubject): RuleRedirect | FaultyDestination | undefined
  /** Rewrites and matches. */
  resolve(asked: RuleSubject): Resolution<RouteMatch>
  /** Hands the request to another origin. */
  proxy(target: URL, context: RequestContext): Promise<void>
  shouldUpgrade(req: IncomingMessage): boolean
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes connections to upstreams, tunnels too. */
  dispose(): void
}

/** An upstream that says nothing for this long is taken for dead. */
const UPSTREAM_TIMEOUT_MS = 30_000

/** Binds compiled rules to a table and to Express. */
export function createAppRules(rules: CompiledRules, table: RouteTable, judge: RequestJudge, log: Logger): AppRules {
  const agents = createProxyAgents()
  const closing = new AbortController()
  const match = matchStaticFirst(table)

  /** Where an upgrade request leads, judged exactly as a request for a document is. */
  function upgradeTarget(req: IncomingMessage): { readonly url: URL; readonly forwarded: Forwarded } | undefined {
    const { target, provenance, refusal } = judge(req)
    if (refusal !== undefined || target.kind !== 'ok' || target.dotSegments) return undefined
    const request = ruleRequest(req, target.pathname, target.search, provenance.host)
    if (redirectFor(rules, request) !== undefined) return undefined
    const resolution = resolveRoute(rules, match, request)
    if (resolution.kind !== 'proxy') return undefined
    return {
      url: resolution.url,
      forwarded: { for: provenance.address, proto: provenance.protocol, host: provenance.host },
    }
  }

  function redirect({ namesNothing }: RequestContext, asked: RuleSubject): ReturnType<AppRules['redirect']> {
    return namesNothing ? undefined : redirectFor(rules, asked.request, asked)
  }

  return {
    redirect,
    subjectOf: ({ req, pathname, search, provenance }) =>
      subjectOf(ruleRequest(req, pathname, search, provenance.host)),
    apply(context, asked) {
      if (context.namesNothing) return false
      for (const [name, value] of headersFor(rules, asked.request, asked)) context.res.appendHeader(name, value)
      const found = redirect(context, asked)
      if (found === undefined) return false
      if (found.fault === undefined) sendLocation(context, found.status, found.location)
      else {
        context.refusal = `the redirect ${found.source} cannot be filled in: ${found.fault}`
        sendText(context, found.status, found.status < 500 ? 'Bad request' : 'This redirect is broken')
      }
      return true
    },
    resolve: (asked) => resolveRoute(rules, match, asked.request, asked),
    proxy(target, context) {
      const { provenance, req, res } = context
      context.route = `-> ${target.origin}`
      return proxyRequest(req, res, target, {
        timeoutMs: UPSTREAM_TIMEOUT_MS,
        forwarded: { for: provenance.address, proto: provenance.protocol, host: provenance.host },
        agents,
        onFailure: (failure) => logUpstream(failure, context),
      })
    },
    shouldUpgrade: (req) => upgradeTarget(req) !== undefined,
    upgrade(req, socket, head) {
      const target = upgradeTarget(req)
      if (target === undefined) return void socket.destroy()
      const { url, forwarded } = target
      void proxyUpgrade(req, socket, head, url, {
        timeoutMs: UPSTREAM_TIMEOUT_MS,
        forwarded,
        signal: closing.signal,
        onFailure: ({ status, reason }) => log.warn({ status, reason, upstream: url.origin }, 'upstream failed'),
      })
    },
    dispose() {
      closing.abort()
      agents.close()
    },
  }
}

function logUpstream({ status, reason, cause }: ProxyFailure, context: RequestContext): void {
  const message = cause instanceof Error ? cause.message : undefined
  context.log.warn({ status, reason, upstream: context.route, message }, 'upstream failed')
}

function ruleRequest(req: IncomingMessage, pathname: string, search: string, host: string): RuleRequest {
  let cookies: Readonly<Record<string, string>> | undefined
  return {
    pathname,
    search,
    host,
    header(name) {
      const value = req.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    cookies: () => (cookies ??= parseCookie(req.headers.cookie ?? '') as Record<string, string>),
  }
}
