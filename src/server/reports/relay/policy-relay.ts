/**
 * Accepts CSP reports of browsers, at the path of the relay, and passes them to the same outlet.
 *
 * | answer | when                                                    |
 * |--------|---------------------------------------------------------|
 * | 200    | kept, or nothing in it concerns this site               |
 * | 400    | not a report                                            |
 * | 403    | sent by a page of another site                          |
 * | 408    | the body was too slow                                   |
 * | 413    | over 64 KiB                                             |
 * | 429    | too many from this client: violations that are not alike |
 * | 503    | nothing can be kept at the moment                       |
 */
import type { RequestHandler } from 'express'
import { BodyError } from '../../http/body/body-error.ts'
import { openBodySource } from '../../http/body/body-source.ts'
import { readText } from '../../http/body/body-text.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import type { RateLimit } from '../../stores/rate-cells.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import { contextOf } from '../../request/attached-context.ts'
import { type RequestContext } from '../../request/context.ts'
import { RequestAborted } from '../../request/request-aborted.ts'
import { clientKey } from '../../http/client-key.ts'
import type { Intake } from '../intake/intake.ts'
import { isPolicyReport, policyEnvelope, readPolicyReport, type PolicyEventFacts } from './policy-report.ts'
import { senderHeaders } from './sender-headers.ts'

const BODY_LIMITS = { bytes: 65_536, timeoutMs: 10_000 } as const
/** Requests, and in them violations that are not alike. A broken page sends a dozen at once; more would repeat them. */
const CLIENT_LIMIT: RateLimit = { points: 30, seconds: 60 }
const NO_ROOM_SECONDS = 30

/** Parts of the policy relay. */
interface PolicyRelayParts extends Pick<PolicyEventFacts, 'release' | 'environment'> {
  /** Path of the relay. */
  readonly path: string
  /** Public origins; empty to accept the request's own host. */
  readonly origins: readonly string[]
  readonly intake: Intake
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** As middleware: other requests pass through. Mount it before the relay. */
export function createPolicyRelay({ path, origins, intake, now, ...facts }: PolicyRelayParts): RequestHandler {
  return (req, _res, next) => {
    const context = contextOf(req)
    if (context.pathname !== path || req.method !== 'POST' || !isPolicyReport(req.headers['content-type']))
      return next()
    context.record.route = path
    context.record.kind = 'relay'
    return answer(context)
  }

  async function answer(context: RequestContext): Promise<void> {
    const { req, res, clientAddress, signal } = context
    try {
      if (isForeignCall(context, origins)) return refuse(context, 403, 'Reports are accepted from this site only')
      const client = clientKey(clientAddress.address)
      const pay = () => context.limit(`policy ${client}`, CLIENT_LIMIT)
      const { allowed, retryAfterSeconds } = await pay()
      if (!allowed) return refuse(context, 429, 'Too many reports at once', retryAfterSeconds)
      const violations = readPolicyReport(await readText(openBodySource(req, BODY_LIMITS, signal)))
      if (violations === undefined) return refuse(context, 400, 'No report')
      const sender = { client, headers: senderHeaders(context) }
      for (const [at, violation] of violations.entries()) {
        if (at > 0 && !(await pay()).allowed) break
        await intake.take(policyEnvelope(violation, { ...facts, now: now() }), sender)
      }
      sendText(context, 200, 'Thank you')
    } catch (thrown) {
      if (thrown instanceof RequestAborted || res.headersSent) return
      if (thrown instanceof BodyError) return refuse(context, thrown.status, thrown.message)
      refuse(context, 503, 'Reports cannot be kept at the moment', NO_ROOM_SECONDS)
    }
  }
}

function refuse(context: RequestContext, status: number, reason: string, retryAfter = 0): void {
  context.record.refused = reason
  dropBody(context.req, context.res)
  sendText(context, status, reason, retryAfter === 0 ? [] : ['Retry-After', String(retryAfter)])
}
