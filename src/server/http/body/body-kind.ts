import { readParameters } from './header-parameters.ts'

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

/** Parses a `Content-Type`; `undefined` for unsupported types and for character sets other than UTF-8. */
export function readBodyType(contentType: string | undefined): BodyType | undefined {
  const type = readParameters(contentType ?? '')
  const kind = KINDS.get(type?.value ?? '')
  if (type === undefined || kind === undefined || !isUtf8(type.parameters.get('charset'))) return undefined
  const boundary = type.parameters.get('boundary')
  return { kind, boundary: boundary !== undefined && BOUNDARY.test(boundary) ? boundary : undefined }
}

/** The kind of a body by its `Content-Type`; `undefined` means 415. */
export function bodyKind(contentType: string | undefined): BodyKind | undefined {
  return readBodyType(contentType)?.kind
}

/** Whether a `charset` is UTF-8, which browsers use for forms and JSON. A missing one counts as UTF-8. */
export function isUtf8(charset: string | undefined): boolean {
  return charset === undefined || /^utf-?8$/i.test(charset)
}
