/**
 * Takes what browsers tell of a document's policy, at the path of the relay, and hands it to the same outlet.
 *
 * | answer | when                                                    |
 * |--------|---------------------------------------------------------|
 * | 200    | kept, or nothing in it says anything of this site        |
 * | 400    | no report                                               |
 * | 403    | sent by a page of another site                           |
 * | 408    | the body came too slowly                                |
 * | 413    | over 64 KiB                                             |
 * | 429    | too many from this client                               |
 * | 503    | nothing can be kept at present                           |
 */
import type { RequestHandler } from 'express'
import { BodyError } from '../../http/body/body-error.ts'
import { openBodySource } from '../../http/body/body-source.ts'
import { readText } from '../../http/body/body-text.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import type { RateLimit } from '../../stores/rate-limits.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import { contextOf } from '../../request/attached-context.ts'
import { RequestAborted, type RequestContext } from '../../request/context.ts'
import { clientKey } from '../../http/client-key.ts'
import type { Intake } from '../intake/intake.ts'
import { isPolicyReport, policyEnvelope, readPolicyReport, type PolicyEventFacts } from './policy-report.ts'
import { senderHeaders } from './sender-headers.ts'

const BODY_LIMITS = { bytes: 65_536, timeoutMs: 10_000 } as const
/** A broken page tells a dozen at once; more than that is said already. */
const CLIENT_LIMIT: RateLimit = { points: 30, seconds: 60 }
const NO_ROOM_SECONDS = 30

/** What it works with. */
export interface PolicyRelayParts extends Pick<PolicyEventFacts, 'release' | 'environment'> {
  /** Path of the relay. */
  readonly path: string
  /** Public origins; empty where the request's own host counts. */
  readonly origins: readonly string[]
  readonly intake: Intake
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** As middleware: what is no such report goes on. To stand in front of the relay. */
export function createPolicyRelay({ path, origins, intake, now, ...facts }: PolicyRelayParts): RequestHandler {
  return (req, _res, next) => {
    const context = contextOf(req)
    if (context.pathname !== path || req.method !== 'POST' || !isPolicyReport(req.headers['content-type']))
      return next()
    context.route = path
    context.kind = 'relay'
    return answer(context)
  }

  async function answer(context: RequestContext): Promise<void> {
    const { req, res, address, signal } = context
    try {
      if (isForeignCall(context, origins)) return refuse(context, 403, 'Reports are taken from this site only')
      const client = clientKey(address)
      const { allowed, retryAfterSeconds } = await context.limit(`policy ${client}`, CLIENT_LIMIT)
      if (!allowed) return refuse(context, 429, 'Too many reports at once', retryAfterSeconds)
      const violations = readPolicyReport(await readText(openBodySource(req, BODY_LIMITS, signal)))
      if (violations === undefined) return refuse(context, 400, 'No report')
      const sender = { client, headers: senderHeaders(context) }
      for (const violation of violations) await intake.take(policyEnvelope(violation, { ...facts, now: now() }), sender)
      sendText(context, 200, 'Thank you')
    } catch (thrown) {
      if (thrown instanceof RequestAborted || res.headersSent) return
      if (thrown instanceof BodyError) return refuse(context, thrown.status, thrown.message)
      refuse(context, 503, 'Reports cannot be kept at present', NO_ROOM_SECONDS)
    }
  }
}

function refuse(context: RequestContext, status: number, reason: string, retryAfter = 0): void {
  context.refusal = reason
  dropBody(context.req, context.res)
  sendText(context, status, reason, retryAfter === 0 ? [] : ['Retry-After', String(retryAfter)])
}
