import type { RuleSet } from 'millrace/server'
import favicon from './site/favicon.svg'

/** Rules that are settled before the route table is asked. */
export const rules: RuleSet = {
  redirects: [
    { source: '/lab/old/:id', destination: '/lab/params/:id', permanent: true },
    // Browsers ask for this path unasked; the mark's own URL carries a hash.
    { source: '/favicon.ico', destination: favicon, permanent: false },
  ],
  rewrites: [
    { source: '/lab/alias/:id', destination: '/lab/params/:id' },
    { source: '/docs/:chapter([\\w-]+)*.md', destination: '/docs/markdown/:chapter*' },
  ],
  headers: [{ source: '/lab/crash/:path*', headers: [{ key: 'X-Robots-Tag', value: 'noindex' }] }],
}
