/** How a page with `cache: 'shared'` was answered, for `Cache-Status` (RFC 9211), the log and metrics. */
export type KeptStatus =
  | { readonly kind: 'hit' | 'stale'; readonly ttl: number }
  /** `collapsed`: it has waited for a making that another request had begun. */
  | { readonly kind: 'miss'; readonly ttl?: number | undefined; readonly collapsed: boolean; readonly stored: boolean }
  | { readonly kind: 'bypass'; readonly reason: string }

/** Value of `Cache-Status`. */
export function cacheStatus(status: KeptStatus): string {
  switch (status.kind) {
    case 'hit':
      return `Millrace; hit; ttl=${status.ttl}`
    case 'stale':
      return `Millrace; fwd=stale; ttl=${status.ttl}`
    case 'miss':
      return (
        'Millrace; fwd=miss' +
        (status.stored ? '; stored' : '') +
        (status.collapsed ? '; collapsed' : '') +
        (status.ttl === undefined ? '' : `; ttl=${status.ttl}`)
      )
    case 'bypass':
      return `Millrace; fwd=bypass; detail=${quoted(status.reason)}`
  }
}

/** For the log. */
export function statusText(status: KeptStatus): string {
  return status.kind === 'bypass' ? `bypass: ${status.reason}` : status.kind
}

/** A string of structured fields (RFC 9651, section 3.3.3). */
function quoted(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`
}
