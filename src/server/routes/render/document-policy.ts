import { type PolicySources } from '../../api/define-app.ts'
import { addedSources } from './policy-sources.ts'
import type { AddedSources } from './policy-sources.ts'

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
  /** For a document that caches may share. */
  readonly shared: string
  /** Value of `Reporting-Endpoints`, if it is used. */
  readonly endpoints: string | undefined
}

const NONCE_MARK = '%NONCE%'
/** Name of the endpoint, in both headers. */
const ENDPOINT = 'policy'

/**
 * Creates the policies.
 * @param secure whether visitors use https: only then do browsers report by `report-to`, and those that support it
 * ignore `report-uri`. Half of the browsers do not support it.
 * @throws {TypeError} for `sources` that cannot be added.
 */
export function createDocumentPolicies(
  { reportPath, trustedTypes, formTargets = [], sources, inline }: PolicyOptions,
  secure: boolean,
): DocumentPolicies {
  const tells = reportPath !== undefined
  const added =
    (trustedTypes === true ? "; require-trusted-types-for 'script'" : '') +
    (tells ? `; report-uri ${reportPath}` : '') +
    (tells && secure ? `; report-to ${ENDPOINT}` : '')
  const more = addedSources(sources)
  const targets = ["'self'", ...formTargets].join(' ')
  const [before = '', after = ''] = documentPolicy(NONCE_MARK, targets, more).split(NONCE_MARK)
  const behind = after + added
  return {
    withNonce: (nonce) => before + nonce + behind,
    shared: sharedDocumentPolicy(inline.length === 0 ? undefined : inline.join(' '), targets, more) + added,
    endpoints: tells && secure ? `${ENDPOINT}="${reportPath}"` : undefined,
  }
}

/**
 * Content-Security-Policy of a document. Scripts run by nonce alone; workers have none, and are the site's own. Inline styles
 * are allowed, because React writes `style` attributes.
 * @param formTargets source expressions of form targets, redirects included.
 * @param added sources that the application allows beyond the site itself.
 */
export function documentPolicy(
  nonce: string,
  formTargets = "'self'",
  { images, others, scripts, styles }: AddedSources = NOTHING_ADDED,
): string {
  return (
    `default-src 'self'; script-src 'nonce-${nonce}' 'strict-dynamic'${scripts}; style-src 'self' 'unsafe-inline'${styles}; ` +
    `img-src 'self' data:${images}; ${others.includes('worker-src') ? '' : "worker-src 'self'; "}${others}` +
    `object-src 'none'; base-uri 'none'; form-action ${formTargets}; frame-ancestors 'none'`
  )
}

/**
 * Policy of a document that caches may share: it has no nonce, so its one inline script is named by its hash.
 * @param inline source expression of that script, `undefined` if there is none.
 * @param formTargets and `added` as in `documentPolicy`.
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

export const NOTHING_ADDED = addedSources()
