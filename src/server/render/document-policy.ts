import { addedSources, type PolicySources } from './policy-sources.ts'
import { documentPolicy, sharedDocumentPolicy } from './security-headers.ts'

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
