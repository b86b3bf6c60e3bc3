import { documentPolicy, sharedDocumentPolicy } from './security-headers.ts'

/** What the policies of an application's documents say beyond the runtime's own. */
export interface PolicyOptions {
  /** Path to which browsers tell what a policy has kept from happening; `undefined` where nobody wants to know. */
  readonly reportPath?: string | undefined
  /** Whether text is kept out of the places of the DOM that run it. */
  readonly trustedTypes?: boolean | undefined
  /** Source expressions of the inline scripts that are the same in all documents. */
  readonly inline: readonly string[]
}

/** The policies of an application's documents. */
export interface DocumentPolicies {
  /** For a document that one visitor gets. */
  withNonce(nonce: string): string
  /** For a document that caches may share. */
  readonly shared: string
  /** Value of `Reporting-Endpoints`, where something is told. */
  readonly endpoints: string | undefined
}

/** Name of the endpoint, in both headers. */
const ENDPOINT = 'policy'

/** Puts them together once. */
export function createDocumentPolicies({ reportPath, trustedTypes, inline }: PolicyOptions): DocumentPolicies {
  // Browsers that know `report-to` do not look at `report-uri`; half of them do not know it.
  const reporting = reportPath === undefined ? '' : `; report-uri ${reportPath}; report-to ${ENDPOINT}`
  const added = (trustedTypes === true ? "; require-trusted-types-for 'script'" : '') + reporting
  return {
    withNonce: (nonce) => documentPolicy(nonce) + added,
    shared: sharedDocumentPolicy(inline.length === 0 ? undefined : inline.join(' ')) + added,
    endpoints: reportPath === undefined ? undefined : `${ENDPOINT}="${reportPath}"`,
  }
}
