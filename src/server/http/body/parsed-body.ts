import type { IncomingMessage } from 'node:http'
import { BodyError } from './body-error.ts'
import { readBodyType, type BodyKind } from './body-kind.ts'
import { parsedFields, type NestedNames } from './parsed-fields.ts'

/** What earlier parsers leave on a request, and the middleware stack with their names. */
interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
  readonly files?: unknown
  readonly file?: unknown
  readonly app?: RouterOwner
}

interface RouterOwner {
  readonly router?: Router
  readonly parent?: RouterOwner
}

interface Router {
  readonly stack?: readonly { readonly name?: string; readonly handle?: Router }[]
}

const PARSER_NAME = /^(?!cookie|query).*(?:pars|multer|form|upload|body|busboy)/i
/** Express's own, by the names of their functions, and the kind of bodies that they read by default. */
const EXPRESS_PARSERS: Readonly<Record<string, { readonly title: string; readonly kind?: BodyKind }>> = {
  jsonParser: { title: 'express.json()', kind: 'json' },
  urlencodedParser: { title: 'express.urlencoded()', kind: 'urlencoded' },
  rawParser: { title: 'express.raw()' },
  textParser: { title: 'express.text()' },
}
/** Escapes of names in multipart bodies, as browsers write them (HTML, "multipart/form-data encoding algorithm"). */
const ESCAPES: Readonly<Record<string, string>> = { '\r': '%0D', '\n': '%0A', '"': '%22' }
/** Bytes of a multipart body without a part, beside its boundary: two dashes on either side, and line ends. */
const EMPTY_MULTIPART_BYTES = 8

/** Whether a parser in front has read the body, and has left something: that is decompressed, and may be of another length. */
export function isParsed(req: IncomingMessage): boolean {
  return req.readableEnded && (req as ParsedRequest).body !== undefined
}

/**
 * The body of a request that middleware or a host has already read: its bytes, or what the parser has made of it, written
 * again. Without this, it would silently arrive empty.
 * @returns `undefined` if nobody has read the body, or there is none.
 * @throws {BodyError} 500 for a body that is gone: nothing was left, the files of a form are missing, or what was left
 * cannot be written; 400 and 413 as for a body that was sent.
 */
export function parsedBody(req: IncomingMessage, names: NestedNames = 'brackets'): Buffer | undefined {
  if (!req.readableEnded || isBodiless(req)) return undefined
  const { body } = req as ParsedRequest
  if (Buffer.isBuffer(body)) return body
  const text = body === undefined ? undefined : writeBody(body, req, names)
  if (text === undefined) throw new BodyError(500, faultOf(req, body))
  return Buffer.from(text)
}

/** Whether the headers announce no body, or an empty one. HTTP/2 needs no headers for one. */
export function isBodiless({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

function writeBody(body: unknown, req: ParsedRequest, names: NestedNames): string | undefined {
  const { kind, boundary } = readBodyType(req.headers['content-type']) ?? {}
  if (kind === 'multipart') return writeMultipart(body, req, boundary, names)
  if (typeof body === 'string') return kind === 'json' && !isJsonText(body, req) ? JSON.stringify(body) : body
  if (kind !== 'urlencoded') return writeJson(body)
  const fields = isObject(body) ? parsedFields(body, names) : undefined
  return fields && new URLSearchParams(fields.map(([name, value]) => [name, value])).toString()
}

function isObject(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}

/** Whether this is the text that was sent, not the string that it is the JSON of: `"a"` and `a`. */
function isJsonText(body: string, { headers }: IncomingMessage): boolean {
  const length = headers['content-encoding'] === undefined ? headers['content-length'] : undefined
  if (length !== undefined) return Buffer.byteLength(body) === Number(length)
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

function writeJson(body: unknown): string | undefined {
  try {
    return JSON.stringify(body, (_name, value: unknown) => {
      // `1e999` is read as Infinity, and would be written as `null`.
      if (value === Infinity || value === -Infinity) throw new BodyError(400, 'JSON with a number that is too large')
      return value
    })
  } catch (thrown) {
    if (thrown instanceof BodyError) throw thrown
    // `JSON.parse` reads any number of levels, `JSON.stringify` fails at some thousands.
    if (thrown instanceof RangeError) throw new BodyError(400, 'JSON with too many levels')
    return undefined
  }
}

/** @returns `undefined` if files are missing. */
function writeMultipart(
  body: unknown,
  { file, files, headers }: ParsedRequest,
  boundary: string | undefined,
  names: NestedNames,
): string | undefined {
  if (boundary === undefined || !isObject(body) || file !== undefined) return undefined
  if (Object.keys(Object(files)).length > 0) return undefined
  const fields = parsedFields(body, names)
  // Who reads a body for its files may leave an empty object.
  const mayBeEmpty = Number(headers['content-length']) <= boundary.length + EMPTY_MULTIPART_BYTES
  if (fields === undefined || (fields.length === 0 && !mayBeEmpty)) return undefined
  const parts = fields.map(([name, value]) => {
    // Written again, it would end its part and begin others. Clients choose a boundary that no value contains.
    if (value.includes(`--${boundary}`)) throw new BodyError(400, 'A field that contains the boundary of its form')
    const escaped = name.replaceAll(/[\r\n"]/g, (character) => ESCAPES[character] ?? '')
    return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped}"\r\n\r\n${value}\r\n`
  })
  return `${parts.join('')}--${boundary}--\r\n`
}

/** For the log; repeats nothing that the client sent. */
function faultOf(req: ParsedRequest, body: unknown): string {
  const { kind } = readBodyType(req.headers['content-type']) ?? {}
  const names = new Set<string>()
  for (let app = req.app; app !== undefined; app = app.parent) addParsers(app.router, kind, names)
  const who = names.size === 0 ? 'Middleware in front' : `The middleware ${[...names].join(', ')}`
  const left =
    kind === 'multipart'
      ? 'not left its files'
      : `left ${body === undefined ? 'nothing' : 'what cannot be written again'} in req.body`
  return `${who} has read the body and ${left}: move it behind Millrace, or mount it only on its own paths`
}

function addParsers({ stack = [] }: Router = {}, kind: BodyKind | undefined, names: Set<string>): void {
  for (const { name = '', handle } of stack) {
    const own = EXPRESS_PARSERS[name]
    // Express's parsers leave bodies of other types alone.
    if (own === undefined ? PARSER_NAME.test(name) : own.kind === undefined || own.kind === kind) {
      names.add(own?.title ?? name)
    }
    if (handle?.stack !== undefined) addParsers(handle, kind, names)
  }
}
