import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { valueIndex, type HeaderList } from '../../http/header-list.ts'
import { CONSTANT_PAGE_STYLE } from './constant-page.ts'

const CONSTANT: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'strict-origin-when-cross-origin',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Permissions-Policy',
  'camera=(), geolocation=(), microphone=()',
]

/** One year, the minimum of the preload list. */
const STRICT_TRANSPORT = 'max-age=31536000'

const SECURE: readonly string[] = [...CONSTANT, 'Strict-Transport-Security', STRICT_TRANSPORT]

const NAMES: ReadonlySet<string> = new Set(SECURE.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))

/**
 * The headers of every answer.
 * @param given headers of this answer, which win.
 */
export function securityHeaders(secure: boolean, given: HeaderList = []): readonly string[] {
  const all = secure ? SECURE : CONSTANT
  // Names that an author has given are in lower case. Values are long, and to look one up is to read it whole.
  if (!given.some((text, at) => at % 2 === 0 && NAMES.has(text))) return all
  return all.filter((_, at) => valueIndex(given, (all[at - (at % 2)] ?? '').toLowerCase()) === -1)
}

/** @returns the headers of an answer without those that every answer has. */
export function withoutSecurityHeaders(headers: HeaderList): HeaderList {
  return headers.filter((_, at) => !NAMES.has((headers[at - (at % 2)] ?? '').toLowerCase()))
}

/** Sets the headers of every answer, unless a host, middleware or a rule has set them. */
export function addSecurityHeaders(res: ServerResponse, secure: boolean): void {
  const headers = securityHeaders(secure)
  for (let index = 0; index < headers.length; index += 2) {
    if (!res.hasHeader(headers[index] ?? '')) res.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
  }
}

const STYLE_HASH = createHash('sha256').update(CONSTANT_PAGE_STYLE).digest('base64')

/** Policy of the constant pages, which contain only text and their own style. */
export const CONSTANT_PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`
