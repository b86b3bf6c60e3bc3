import { type PolicySources } from '../../api/define-app.ts'
import { addedSources } from './policy-sources.ts'

/** Parts of the policy of an application's documents, beyond the runtime's own. */
export interface PolicyOptions {
  /** Path to which browsers report violations; `undefined` without reports. */
  readonly reportPath?: string | undefined
  /** Whether Trusted Types are required. */
  readonly trustedTypes?: boolean | undefined
  /** Other origins to which forms may lead; checked by `checkOrigins`. */
  readonly formTargets?: readonly string[] | undefined
  /** Sources outside the site from which documents may load. */
  readonly sources?: PolicySources | undefined
  /** Source expressions of the inline scripts that all documents share. */
  readonly inline: readonly string[]
}

/** The policies of an application's documents. */
export interface DocumentPolicies {
  /** For a document that is private to one visitor. */
  withNonce(nonce: string): string
  /**
   * For a kept document with parts of one visitor: what was kept has no nonce.
   * @param scripts source expressions of its inline scripts, besides those that all documents share.
   */
  withSlots(nonce: string, scripts: readonly string[]): string
  /** For a document that caches may share. */
  readonly shared: string
  /** Value of `Reporting-Endpoints`, if it is used. */
  readonly endpoints: string | undefined
}

const NONCE_MARK = '%NONCE%'
/** Name of the endpoint, in both headers. */
const ENDPOINT = 'policy'

/**
 * Creates the policies. Scripts of a private document run by its nonce alone; a shared document has none, so its inline
 * scripts are named by their hashes. Inline styles are allowed, because React writes `style` attributes.
 * @param secure whether visitors use https: only then do browsers report by `report-to`, and those that support it
 * ignore `report-uri`. Half of the browsers do not support it.
 * @throws {TypeError} for `sources` that cannot be added.
 */
export function createDocumentPolicies(
  { reportPath, trustedTypes, formTargets = [], sources, inline }: PolicyOptions,
  secure: boolean,
): DocumentPolicies {
  const tells = reportPath !== undefined
  const { images, others, scripts, sharedScripts, styles } = addedSources(sources)
  const policyOf = (scriptSources: string, workers: string): string =>
    `default-src 'self'; script-src ${scriptSources}; style-src 'self' 'unsafe-inline'${styles}; ` +
    `img-src 'self' data:${images}; ${workers}${others}object-src 'none'; base-uri 'none'; ` +
    `form-action ${["'self'", ...formTargets].join(' ')}; frame-ancestors 'none'` +
    (trustedTypes === true ? "; require-trusted-types-for 'script'" : '') +
    (tells ? `; report-uri ${reportPath}` : '') +
    (tells && secure ? `; report-to ${ENDPOINT}` : '')
  // Workers have no nonce, and are the site's own.
  const workers = others.includes('worker-src') ? '' : "worker-src 'self'; "
  const own = policyOf(`'nonce-${NONCE_MARK}' 'strict-dynamic'${scripts}`, workers)
  const [before = '', after = ''] = own.split(NONCE_MARK)
  const sharedPolicy = (more: readonly string[]): string =>
    policyOf(["'self'", ...more, ...inline].join(' ') + sharedScripts, '')
  return {
    withNonce: (nonce) => before + nonce + after,
    withSlots: (nonce, scripts) => sharedPolicy([`'nonce-${nonce}'`, ...scripts]),
    shared: sharedPolicy([]),
    endpoints: tells && secure ? `${ENDPOINT}="${reportPath}"` : undefined,
  }
}
