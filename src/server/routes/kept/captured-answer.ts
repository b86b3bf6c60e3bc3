import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PURPOSE_HEADER } from '../../../shared/protocol/route-data.ts'
import { withoutSecurityHeaders } from '../../request/answer/security-headers.ts'
import { send } from '../../request/answer/send.ts'
import { sendEncoded } from '../../request/answer/send-encoded.ts'
import { KeptBody } from '../../stores/cache/kept-body.ts'
import type { HeaderList } from '../../http/header-list.ts'
import type { RequestContext } from '../../request/context.ts'

/** The answer to an artificial request, which no client has sent. */
export interface CapturedAnswer {
  readonly status: number
  /** Without those that every answer has. */
  readonly headers: HeaderList
  /** Text of a constant page, or a document. */
  readonly body: string | KeptBody | undefined
}

/** The response to an artificial request: it stores its answer. */
export class CapturedResponse extends ServerResponse {
  /** As Express has them. */
  readonly locals = {}
  override headersSent = false
  answer: CapturedAnswer | undefined = undefined
  #head: Pick<CapturedAnswer, 'status' | 'headers'> | undefined = undefined

  override writeHead(status: number, headers?: unknown): this {
    this.headersSent = true
    this.#head = { status, headers: withoutSecurityHeaders((headers ?? []) as HeaderList) }
    return this
  }

  override end(body?: unknown): this {
    const made = body instanceof Buffer ? new KeptBody([], '', body) : (body as string | undefined)
    if (this.#head !== undefined) this.answer = { ...this.#head, body: made }
    // What ends with an answer ends with this one.
    this.emit('finish')
    return this
  }
}

/**
 * An artificial request for a page.
 * @param url of the page, for the log of development.
 * @param isPrefetch whether admission may refuse it first.
 */
export function requestOfNobody(
  url: string,
  isPrefetch: boolean,
): { readonly req: IncomingMessage; readonly res: CapturedResponse } {
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url })
  if (isPrefetch) req.headers[PURPOSE_HEADER.toLowerCase()] = 'prefetch'
  return { req, res: new CapturedResponse(req) }
}

/** Sends it to a visitor. */
export async function sendCaptured({ status, headers, body }: CapturedAnswer, context: RequestContext): Promise<void> {
  if (body instanceof KeptBody) return sendEncoded(context, status, headers, body)
  send(context, status, headers)
  context.res.end(context.req.method === 'HEAD' ? undefined : body)
}
