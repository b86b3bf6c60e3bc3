import type { IncomingMessage, ServerResponse } from 'node:http'
import { BODY_SILENCE_MS } from '../http/body/body-limits.ts'
import { openBodySource } from '../http/body/body-source.ts'
import { dropBody } from '../http/body/drop-body.ts'
import type { ClientAddress } from '../http/trusted-proxy.ts'

/** What a `Request` is made from. */
interface RequestParts {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly clientAddress: ClientAddress
  readonly pathname: string
  readonly search: string
  /** Set where an action is called. */
  readonly action: object | undefined
  readonly signal: AbortSignal
}

/** Methods whose requests carry no body in the web platform's eyes. */
const BODILESS = new Set(['GET', 'HEAD'])

/**
 * The request as the web platform has it. The URL is built from the judged parts, never parsed from the raw target:
 * a target such as `//other.example` would change its host.
 */
export function toWebRequest(context: RequestParts): Request {
  const { req, clientAddress, pathname, search } = context
  // Loaders of a page meet the request for that page, whichever action has been called there; its body is read.
  const isCall = context.action !== undefined
  const headers = new Headers()
  const raw = req.rawHeaders
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    // HTTP/2 style pseudo headers cannot stand in Headers.
    if (!name.startsWith(':') && !(isCall && /^content-/i.test(name))) headers.append(name, raw[index + 1] ?? '')
  }
  const method = isCall ? 'GET' : (req.method ?? 'GET')
  const init: RequestInit = { method, headers, signal: context.signal }
  if (!BODILESS.has(method)) {
    // `duplex` is missing from the DOM's types; a streamed body is refused without it.
    Object.assign(init, { body: bodyOf(context), duplex: 'half' })
  }
  const origin = clientAddress.origin ?? `${clientAddress.protocol}://${clientAddress.host || 'localhost'}`
  return new Request(origin + pathname + search, init)
}

/** Read as it is asked for. Who sends too slowly makes it fail, as in a call of an action; how much is taken says the reader. */
function bodyOf({ req, res, signal }: RequestParts): ReadableStream<Uint8Array> {
  const source = openBodySource(req, { bytes: Infinity, timeoutMs: BODY_SILENCE_MS }, signal)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await source.read()
        if (chunk === undefined) controller.close()
        else controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      },
      cancel(reason) {
        source.close(reason)
        // Said after the answer it would be too late: the client would have sent its next request behind this body.
        dropBody(req, res)
      },
    },
    { highWaterMark: 0 },
  )
}
