import { readMediaType } from '../header-parameters.ts'

/** The kinds of bodies that actions accept. */
export type BodyKind = 'urlencoded' | 'multipart' | 'json'

/** A parsed `Content-Type`. */
export interface BodyType {
  readonly kind: BodyKind
  /** Of a multipart body; `undefined` if missing or invalid by RFC 2046. */
  readonly boundary: string | undefined
}

const KINDS: ReadonlyMap<string, BodyKind> = new Map([
  ['application/x-www-form-urlencoded', 'urlencoded'],
  ['multipart/form-data', 'multipart'],
  ['application/json', 'json'],
])

/** RFC 2046, section 5.1.1. */
const BOUNDARY = /^[0-9a-z'()+_,./:=? -]{0,69}[0-9a-z'()+_,./:=?-]$/i

/** Types of JSON with a name of their own (RFC 6839): `application/vnd.api+json`. */
const NAMED_JSON = /^application\/[!#$&^_.+\w-]+\+json$/

/**
 * Parses a `Content-Type`; `undefined` for unsupported types and for character sets other than UTF-8. JSON with a name of
 * its own counts as JSON: who takes no such bodies asks `bodyKind`.
 */
export function readBodyType(contentType: string | undefined): BodyType | undefined {
  const type = readMediaType(contentType ?? '')
  const name = type?.value ?? ''
  const kind = KINDS.get(name) ?? (NAMED_JSON.test(name) ? 'json' : undefined)
  if (type === undefined || kind === undefined || !isUtf8(type.parameters.get('charset'))) return undefined
  return { kind, boundary: boundaryOf(type.parameters) }
}

/** The boundary of a multipart body; `undefined` if it is missing, or one that parsers read in different ways. */
export function boundaryOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const boundary = parameters.get('boundary')
  return boundary !== undefined && BOUNDARY.test(boundary) ? boundary : undefined
}

/** The kind of an action's body by its `Content-Type`; `undefined` means 415. */
export function bodyKind(contentType: string | undefined): BodyKind | undefined {
  return KINDS.has(readMediaType(contentType ?? '')?.value ?? '') ? readBodyType(contentType)?.kind : undefined
}

/** Whether a `charset` is UTF-8, which browsers use for forms and JSON. A missing one counts as UTF-8. */
export function isUtf8(charset: string | undefined): boolean {
  return charset === undefined || /^utf-?8$/i.test(charset)
}
