import { addedSources, type AddedSources } from './policy-sources.ts'

/** Flat list of header names and values, as `ServerResponse.writeHead` takes it. */
export type HeaderList = string[]

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

const NOTHING_ADDED = addedSources()

/** The headers every answer carries, whatever it is. */
export function securityHeaders(secure: boolean): readonly string[] {
  return secure ? SECURE : CONSTANT
}

/**
 * Content-Security-Policy of a document. Scripts run by nonce alone; inline styles are allowed, because React writes
 * `style` attributes.
 * @param formTargets source expressions of where forms may lead, redirects included.
 * @param added what the application allows beyond the site itself.
 */
export function documentPolicy(
  nonce: string,
  formTargets = "'self'",
  { images, others, scripts, styles }: AddedSources = NOTHING_ADDED,
): string {
  return (
    `default-src 'self'; script-src 'nonce-${nonce}' 'strict-dynamic'${scripts}; style-src 'self' 'unsafe-inline'${styles}; ` +
    `img-src 'self' data:${images}; ${others}object-src 'none'; base-uri 'none'; form-action ${formTargets}; frame-ancestors 'none'`
  )
}

/**
 * Policy of a document that caches may share: it has no nonce, so its one inline script is named by its hash.
 * @param inline source expression of that script, `undefined` where there is none.
 * @param formTargets as in `documentPolicy`, and so is `added`.
 */
export function sharedDocumentPolicy(
  inline: string | undefined,
  formTargets = "'self'",
  { images, others, sharedScripts, styles }: AddedSources = NOTHING_ADDED,
): string {
  return (
    `default-src 'self'; script-src 'self'${inline === undefined ? '' : ` ${inline}`}${sharedScripts}; ` +
    `style-src 'self' 'unsafe-inline'${styles}; ` +
    `img-src 'self' data:${images}; ${others}object-src 'none'; base-uri 'none'; form-action ${formTargets}; frame-ancestors 'none'`
  )
}

/** Policy of the constant pages, which hold nothing but text. */
export const CONSTANT_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
