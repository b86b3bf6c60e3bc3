import { isForeignCall } from '../../request/same-origin.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import type { ProxyTarget } from '../decide/decision.ts'
import { upgradeOf } from './pending-upgrade.ts'
import { createProxyAgents } from './proxy-agents.ts'
import type { ProxyFailure } from './proxy-options.ts'
import { proxyUpgrade } from './proxy-upgrade.ts'
import { proxyRequest } from './proxy.ts'

/** Forwards requests to other origins. */
export interface RequestForwarder {
  /** Forwards the request, with its connection if an upgrade is attached. */
  forward(target: ProxyTarget, context: RequestContext): Promise<void>
  /** Closes connections to upstreams, tunnels included. */
  dispose(): void
}

/** An upstream that is silent for this long counts as dead. */
const UPSTREAM_TIMEOUT_MS = 30_000

/** @param origins public origins for checking WebSocket handshakes; empty to accept the request's own host. */
export function createRequestForwarder(origins: readonly string[]): RequestForwarder {
  const agents = createProxyAgents()
  const closing = new AbortController()
  return {
    async forward({ url: target, crossSite }, context) {
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
    },
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
