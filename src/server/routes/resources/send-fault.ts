import { STATUS_CODES } from 'node:http'
import type { Request } from 'express'
import type { HeaderList } from '../../http/header-list.ts'
import { sendAnyway } from '../../request/answer/send.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'

/** Why a resource route has no answer of its own. */
interface Fault {
  /** 400 or more. */
  readonly status: number
  /** For people, and for clients that do not ask for JSON. */
  readonly text: string
  /** Members of the JSON beside `title` and `status`; they replace its `detail`. */
  readonly members?: Readonly<Record<string, unknown>>
  /** Whether clients without a preference get JSON too: they have sent a body to a program. */
  readonly isForPrograms?: boolean
}

/** Types that a client is offered, the first for those that take anything. */
const OFFERED = ['text/plain', 'text/html', 'application/json', 'application/problem+json']

const MAX_ACCEPT = 1_024 // no client sends a longer header

/** Sends a fault: as problem details (RFC 9457) to clients that prefer JSON, otherwise as a short text. Never stored. */
export function sendFault(context: RequestContext, fault: Fault, extra: HeaderList = []): void {
  const { status, text, members } = fault
  if (!prefersJson(context, fault)) return sendText(context, status, text, extra)
  const body = JSON.stringify({ title: STATUS_CODES[status], status, detail: text, ...members })
  const length = String(Buffer.byteLength(body))
  sendAnyway(context, status, [
    'Content-Type',
    'application/problem+json',
    'Content-Length',
    length,
    'Cache-Control',
    'no-store',
    ...extra,
  ])
  context.res.end(context.req.method === 'HEAD' ? undefined : body)
}

function prefersJson({ req }: RequestContext, { isForPrograms = false }: Fault): boolean {
  const { accept = '' } = req.headers
  if ((!isForPrograms && !accept.includes('json')) || accept.length > MAX_ACCEPT) return false
  const chosen = (req as Request).accepts(isForPrograms ? OFFERED.toReversed() : OFFERED)
  return typeof chosen === 'string' && chosen.endsWith('json')
}
