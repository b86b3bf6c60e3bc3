import { createHash } from 'node:crypto'
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

/** The headers of every answer. */
export function securityHeaders(secure: boolean): readonly string[] {
  return secure ? SECURE : CONSTANT
}

const STYLE_HASH = createHash('sha256').update(CONSTANT_PAGE_STYLE).digest('base64')

/** Policy of the constant pages, which contain only text and their own style. */
export const CONSTANT_PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`
