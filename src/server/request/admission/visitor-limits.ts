import type { RequestHandler } from 'express'
import { refuseCall } from '../answer/refuse-call.ts'
import type { RateLimit, RateLimitResult } from '../../stores/rate-cells.ts'
import { sendText } from '../answer/send-plain.ts'
import { clientKey } from '../../http/client-key.ts'
import { contextOf } from '../attached-context.ts'
import { type RequestContext } from '../context.ts'
import { rateCells } from '../../stores/rate-cells.ts'
import type { VisitorLimits } from '../../api/define-app.ts'

/** Counts the requests of visitors. */
export interface VisitorLimiter {
  /**
   * Refuses route data, and calls that name their action in the URL. Mount it after the handlers that recognise these.
   */
  readonly handler: RequestHandler
  /**
   * Counts a form whose action is named only in its body.
   * @returns whether it has been refused and answered.
   */
  refusesForm(context: RequestContext): Promise<boolean>
}

const COMPLAIN_EVERY_MS = 60_000 // if the counts fail, they fail for everybody

/**
 * Answers visitors who exceed their limit with 429 and `Retry-After`, before anything of the application runs and
 * before a body is read. If the counts cannot be kept, for example on a full disk, nobody is refused.
 * @param now milliseconds since the epoch.
 * @returns `undefined` if nothing is limited.
 * @throws {RangeError} for an invalid limit.
 */
export function limitVisitors({ actions, data }: VisitorLimits = {}, now = Date.now): VisitorLimiter | undefined {
  for (const limit of [actions, data]) if (limit !== undefined) rateCells(limit)
  if (actions === undefined && data === undefined) return undefined
  const complained = { at: Number.NEGATIVE_INFINITY }

  return {
    async handler(req, _res, next) {
      const context = contextOf(req)
      if (await refuses(context, context.action !== undefined ? 'action' : 'data')) return
      next()
    },
    refusesForm: (context) => refuses(context, 'action'),
  }

  async function refuses(context: RequestContext, what: 'action' | 'data'): Promise<boolean> {
    const limit = what === 'action' ? actions : context.data && data
    if (limit === undefined) return false
    const result = await count(context, `${what} ${clientKey(context.clientAddress.address)}`, limit)
    if (!result.allowed) refuse(context, what, result.retryAfterSeconds)
    return !result.allowed
  }

  async function count(context: RequestContext, key: string, limit: RateLimit): Promise<RateLimitResult> {
    try {
      return await context.limit(key, limit)
    } catch (error) {
      if (now() - complained.at >= COMPLAIN_EVERY_MS) {
        complained.at = now()
        const err = error instanceof Error ? { type: error.name, message: error.message } : { message: String(error) }
        context.log.error({ err }, 'visitors cannot be counted, and are not limited')
      }
      return { allowed: true, retryAfterSeconds: 0 }
    }
  }
}

function refuse(context: RequestContext, what: 'action' | 'data', retryAfterSeconds: number): void {
  if (context.res.closed) return
  if (what === 'action') return refuseCall(context, 429, undefined, retryAfterSeconds)
  context.record.refused = 'asked too often'
  sendText(context, 429, context.record.refused, ['Retry-After', String(retryAfterSeconds)])
}
