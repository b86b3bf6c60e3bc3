import { type PolicySources } from '../../api/define-app.ts'
import { addedSources } from './policy-sources.ts'
import type { AddedSources } from './policy-sources.ts'

/** What the policies of an application's documents say beyond the runtime's own. */
export interface PolicyOptions {
  /** Path to which browsers tell what a policy has kept from happening; `undefined` where nobody wants to know. */
  readonly reportPath?: string | undefined
  /** Whether text is kept out of the places of the DOM that run it. */
  readonly trustedTypes?: boolean | undefined
  /** Origins, beside the site's own, to which forms may lead; checked by `checkOrigins`. */
  readonly formTargets?: readonly string[] | undefined
  /** What documents may load from beyond the site. */
  readonly sources?: PolicySources | undefined
  /** Source expressions of the inline scripts that are the same in all documents. */
  readonly inline: readonly string[]
}

/** The policies of an application's documents. */
export interface DocumentPolicies {
  /** For a document that one visitor gets. */
  withNonce(nonce: string): string
  /** For a document that caches may share. */
  readonly shared: string
  /** Value of `Reporting-Endpoints`, where something is told in that way. */
  readonly endpoints: string | undefined
}

const NONCE_MARK = '%NONCE%'
/** Name of the endpoint, in both headers. */
const ENDPOINT = 'policy'

/**
 * Puts them together.
 * @param secure whether visitors come by https: only then browsers tell by `report-to`, and those that know it do not
 * look at `report-uri` beside it. Half of them do not know it.
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

export const NOTHING_ADDED = addedSources()
