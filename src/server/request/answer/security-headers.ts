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

/** One year, as the preload list asks at least. */
const STRICT_TRANSPORT = 'max-age=31536000'

const SECURE: readonly string[] = [...CONSTANT, 'Strict-Transport-Security', STRICT_TRANSPORT]

/** The headers every answer carries, whatever it is. */
export function securityHeaders(secure: boolean): readonly string[] {
  return secure ? SECURE : CONSTANT
}

/** Policy of the constant pages, which hold nothing but text. */
export const CONSTANT_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
