import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyError } from '../http/body/body-error.ts'
import { readBodyType } from '../http/body/body-kind.ts'
import { BODY_SILENCE_MS, MAX_PARTS } from '../http/body/body-limits.ts'
import { countFields, type FieldCount } from '../http/body/count-fields.ts'
import { openBodySource, type BodySource } from '../http/body/body-source.ts'
import { dropBody } from '../http/body/drop-body.ts'
import type { HeldBody } from '../http/body/held-bodies.ts'
import { holdForm } from '../http/body/multipart-form.ts'
import { refuseInReadScope } from '../stores/cache/read-scope.ts'
import { isParsed } from '../http/body/parsed-body.ts'
import { createPartReader } from '../http/body/part-reader.ts'
import { readUrlencoded } from '../http/body/urlencoded-form.ts'
import { plainPath } from '../http/plain-path.ts'
import type { ClientAddress } from '../http/trusted-proxy.ts'
import type { Audience } from './audience.ts'
import type { LateReads } from './late-changes.ts'
import { noteCredentials } from './noted-headers.ts'

/** Parts of a request from which a `Request` is made. */
interface RequestParts {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly clientAddress: ClientAddress
  readonly pathname: string
  readonly search: string
  /** Set if an action is called. */
  readonly action: object | undefined
  readonly signal: AbortSignal
  readonly body: HandlerBody
  readonly audience: Pick<Audience, 'noteHeader' | 'sharedBy'>
  readonly noteLateChange: LateReads['noteLateChange']
}

/** How the body of a handler is read. */
export interface HandlerBody {
  /** Maximum bytes that `request` gives out. */
  limit: number
  /** What has read of it: `request`, or the schema of the handler's module. */
  reader: 'request' | 'schema' | undefined
  /** Begins to count the memory of a body that `request` gives out whole; absent if nothing counts it. */
  hold?: (() => HeldBody) | undefined
}

/** What reads a body whole, or keeps what another reader has read. */
const WHOLE = ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text'] as const

/** Methods for which a web `Request` has no body. */
const BODILESS = new Set(['GET', 'HEAD'])

/**
 * The request as a web `Request`. Its URL is built from the judged parts, never parsed from the raw target: a target
 * such as `//other.example` would change the host. Its path has one spelling, as for middleware.
 * @param method of a request that calls an action, whose body has been read. Default: that of its page.
 */
export function toWebRequest(context: RequestParts, method = methodOf(context)): Request {
  const { req, clientAddress, pathname, search } = context
  const isCall = context.action !== undefined
  const headers = new Headers()
  // What a parser in front has left is decompressed, and may be of another length.
  const ignored = isCall ? /^content-/i : isParsed(req) ? /^content-(?:encoding|length)$/i : undefined
  // Not the raw lines: middleware may have removed or replaced what the visitor has sent.
  for (const [name, value = ''] of Object.entries(req.headers)) {
    // `Headers` does not accept HTTP/2 pseudo headers.
    if (name.startsWith(':') || ignored?.test(name) === true) continue
    for (const line of typeof value === 'string' ? [value] : value) headers.append(name, line)
  }
  const init: RequestInit = { method, headers, signal: context.signal }
  const origin = clientAddress.origin ?? `${clientAddress.protocol}://${clientAddress.host || 'localhost'}`
  const url = origin + plainPath(pathname) + search
  if (isCall || BODILESS.has(method)) return noteCredentials(new Request(url, init), context)
  const source = openBodySource(context.req, { bytes: context.body.limit, timeoutMs: BODY_SILENCE_MS }, context.signal)
  const fields = countFields(headers.get('content-type') ?? undefined)
  const reading: BodyReading = { fields, isForm: false, stop: source.close }
  // `duplex` is missing from the DOM's types; a streamed body is refused without it.
  Object.assign(init, { body: bodyOf(context, source, reading), duplex: 'half' })
  return bounded(noteCredentials(new Request(url, init), context), context, reading)
}

// Loaders of a page get the page's request, even during a call.
function methodOf({ action, req }: RequestParts): string {
  return action === undefined ? (req.method ?? 'GET') : 'GET'
}

/** What is done with a body, whichever clone of its request is read. */
interface BodyReading {
  /** Counts its memory, once it is read whole. */
  held?: HeldBody | undefined
  /** Ends it. */
  readonly stop: BodySource['close']
  readonly fields: FieldCount
  /** Whether `formData()` reads it, which has no bound of its own. */
  isForm: boolean
}

/** The request, with bounds for what reads its body whole. */
function bounded(request: Request, context: Pick<RequestParts, 'body'>, reading: BodyReading): Request {
  for (const name of WHOLE) {
    const read = request[name].bind(request) as () => unknown
    const value = (): unknown => {
      refuseInReadScope(context, 'request')
      if (reading.held === undefined) {
        reading.held = context.body.hold?.()
        reading.held?.whenLost(reading.stop)
      }
      if (name === 'formData') return readForm(request, reading)
      const result = read()
      if (name === 'json') return (result as Promise<unknown>).catch(refuseSyntax)
      return result instanceof Request ? bounded(result, context, reading) : result
    }
    Object.defineProperty(request, name, { value, configurable: true, writable: true })
  }
  return request
}

/** @throws {BodyError} for a body that is no form, and one with too many fields. */
async function readForm(request: Request, reading: BodyReading): Promise<FormData> {
  const { fault, contentType = '' } = reading.fields
  if (fault !== undefined) throw fault
  reading.isForm = true
  const { kind, boundary = '' } = readBodyType(contentType) ?? {}
  const form = new FormData()
  // Throws if the handler has read the body before, which is no fault of the visitor.
  const response = new Response(request.body)
  const fields =
    kind === 'multipart'
      ? await holdForm(createPartReader(sourceOf(response), boundary), { files: MAX_PARTS, fileBytes: Infinity })
      : readUrlencoded(await response.text())
  for (const [name, value] of fields) form.append(name, value)
  return form
}

/** Not the platform's parser: it reads heads of any length, byte by byte, and a megabyte of `+` takes half a second. */
function sourceOf({ body }: Response): BodySource {
  const reader = body?.getReader()
  return {
    async read() {
      const { value } = (await reader?.read()) ?? {}
      return value && Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    },
    close: (error) => void reader?.cancel(error).catch(() => undefined),
  }
}

// What a visitor has sent wrong is no failure of this server. The platform's message would repeat it.
function refuseSyntax(thrown: unknown): never {
  throw thrown instanceof SyntaxError ? new BodyError(400, 'A body that is no JSON') : thrown
}

/** Reads on demand. A slow sender makes it fail, as in a call of an action, and so does a body over the limit. */
function bodyOf(
  { req, res, body }: RequestParts,
  source: BodySource,
  reading: BodyReading,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (body.reader === 'schema') throw new TypeError(PARSED)
        body.reader = 'request'
        const chunk = await source.read()
        if (chunk === undefined) {
          reading.held?.run()
          controller.close()
          return
        }
        reading.held?.hold(chunk.byteLength)
        reading.fields.add(chunk)
        if (reading.isForm && reading.fields.fault !== undefined) throw reading.fields.fault
        controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      },
      cancel(reason) {
        if (body.reader === 'schema') return
        body.reader = 'request'
        source.close(reason)
        // Not after the answer: the client would already have sent its next request after this body.
        dropBody(req, res)
      },
    },
    { highWaterMark: 0 },
  )
}

const PARSED =
  'The schema `body` of the module has read the body of this request: use the argument `body` of the handler'
