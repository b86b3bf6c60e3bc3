import { dropBody } from '../../http/body/drop-body.ts'
import { textsOf } from './texts.ts'
import { sendConstantPage, sendText } from './send-plain.ts'
import type { RequestContext } from '../context.ts'

const REASONS = {
  400: 'The form could not be read.',
  403: 'This form was sent from another site.',
  404: 'This form is no longer known here. Go back, reload the page, and send it again.',
  405: 'There is nothing to send to here.',
  408: 'The form took too long to arrive.',
  409: 'This form has been sent already, and is still being worked on.',
  413: 'That is more than this page takes. Go back, and send less.',
  415: 'Forms of this kind are not understood here.',
  429: 'Too many at once. Please try again in a moment.',
  500: 'The form could not be read.',
  503: 'Too busy. Please try again in a moment.',
} as const

/** Statuses of calls that are refused before their handler runs. */
export type CallRefusal = keyof typeof REASONS

/**
 * Refuses a call; the rest of its body is dropped, and the connection closed properly.
 * @param retryAfterSeconds for 429 and 503.
 */
export function refuseCall(
  context: RequestContext,
  status: CallRefusal,
  reason: string = REASONS[status],
  retryAfterSeconds = 1,
): void {
  context.record.refused = reason
  const headers = status === 503 || status === 429 ? ['Retry-After', String(retryAfterSeconds)] : []
  if (status === 405) headers.push('Allow', 'GET, HEAD, OPTIONS')
  dropBody(context.req, context.res)
  if (context.data === undefined) {
    const texts = textsOf(context)
    // The exact excess is for the log only.
    const message = texts.forms[status] ?? (status === 413 ? REASONS[status] : reason)
    sendConstantPage(context, { status, message, texts }, headers)
  } else sendText(context, status, reason, headers)
}
