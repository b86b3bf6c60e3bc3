import { readParameters } from './header-parameters.ts'

/** The kinds of bodies that actions take. */
export type BodyKind = 'urlencoded' | 'multipart' | 'json'

/** What a `Content-Type` says. */
export interface BodyType {
  readonly kind: BodyKind
  /** Of a multipart body; `undefined` when missing or no boundary by RFC 2046. */
  readonly boundary: string | undefined
}

const KINDS: ReadonlyMap<string, BodyKind> = new Map([
  ['application/x-www-form-urlencoded', 'urlencoded'],
  ['multipart/form-data', 'multipart'],
  ['application/json', 'json'],
])

/** RFC 2046, section 5.1.1. */
const BOUNDARY = /^[0-9a-z'()+_,./:=? -]{0,69}[0-9a-z'()+_,./:=?-]$/i

/** Reads a `Content-Type`; `undefined` for anything that is not read here, other character sets than UTF-8 included. */
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

/** Whether a `charset` is the one that browsers use for forms and JSON; none at all is that too. */
export function isUtf8(charset: string | undefined): boolean {
  return charset === undefined || /^utf-?8$/i.test(charset)
}
