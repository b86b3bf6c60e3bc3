import type { IncomingMessage } from 'node:http'
import { BodyError } from './body-error.ts'
import { readBodyType, type BodyKind } from './body-kind.ts'

/** What earlier parsers leave on a request, and the middleware stack with their names. */
interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
  readonly files?: unknown
  readonly file?: unknown
  readonly app?: RouterOwner
}

interface RouterOwner {
  readonly router?: { readonly stack?: readonly { readonly name?: string }[] }
  readonly parent?: RouterOwner
}

const PARSER_NAME = /pars|multer|form|upload|body/i
/** Express's own, by the names of their functions, and the kind of bodies that they read unless told otherwise. */
const EXPRESS_PARSERS: Readonly<Record<string, { readonly title: string; readonly kind?: BodyKind }>> = {
  jsonParser: { title: 'express.json()', kind: 'json' },
  urlencodedParser: { title: 'express.urlencoded()', kind: 'urlencoded' },
  rawParser: { title: 'express.raw()' },
  textParser: { title: 'express.text()' },
}
/** Escapes of names in multipart bodies, as browsers write them (HTML, "multipart/form-data encoding algorithm"). */
const ESCAPES: Readonly<Record<string, string>> = { '\r': '%0D', '\n': '%0A', '"': '%22' }

/**
 * The body of a request that middleware or a host has already read: its bytes, or an equivalent encoding of its fields.
 * Without this, such a form would silently arrive empty.
 * @returns `undefined` if nobody has read the body.
 * @throws {BodyError} 500 if the body was parsed into anything but strings: nesting, order and files are lost then.
 */
export function parsedBody(req: IncomingMessage): Buffer | undefined {
  if (!req.readableEnded) return undefined
  const { body, file, files } = req as ParsedRequest
  if (Buffer.isBuffer(body)) return body
  if (body === undefined && isEmpty(req)) return undefined
  const isWhole = file === undefined && (files === undefined || Object.keys(Object(files)).length === 0)
  const text = isWhole && isFlat(body) ? writeFields(body, req.headers['content-type']) : undefined
  if (text === undefined) throw new BodyError(500, faultOf(req, body))
  return Buffer.from(text)
}

function isEmpty({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

function isFlat(body: unknown): body is Readonly<Record<string, string>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  return Object.values(body).every((value) => typeof value === 'string')
}

function writeFields(fields: Readonly<Record<string, string>>, contentType: string | undefined): string | undefined {
  const { kind, boundary } = readBodyType(contentType) ?? {}
  if (kind === 'json') return JSON.stringify(fields)
  if (kind === 'urlencoded') return new URLSearchParams(fields).toString()
  if (kind === undefined || boundary === undefined) return undefined
  const parts = Object.entries(fields).map(([name, value]) => {
    const escaped = name.replaceAll(/[\r\n"]/g, (character) => ESCAPES[character] ?? '')
    return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped}"\r\n\r\n${value}\r\n`
  })
  return `${parts.join('')}--${boundary}--\r\n`
}

/** For the log; repeats nothing that the client sent. */
function faultOf(req: ParsedRequest, body: unknown): string {
  const { kind } = readBodyType(req.headers['content-type']) ?? {}
  const names = new Set<string>()
  for (let app = req.app; app !== undefined; app = app.parent) {
    for (const { name = '' } of app.router?.stack ?? []) {
      const own = EXPRESS_PARSERS[name]
      // Express's parsers leave bodies of other types alone.
      if (own === undefined ? PARSER_NAME.test(name) : own.kind === undefined || own.kind === kind) {
        names.add(own?.title ?? name)
      }
    }
  }
  const who = names.size === 0 ? 'Middleware in front' : `The middleware ${[...names].join(', ')}`
  const left = body === undefined ? 'nothing in req.body' : 'neither a Buffer nor a flat object of strings in req.body'
  return `${who} has read the body and left ${left}: move it behind Millrace, or mount it only on its own paths`
}
