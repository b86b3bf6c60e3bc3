import type { ReactNode } from 'react'
import { Link, withBasePath } from 'millrace'
import type { Metadata } from 'millrace'
import { StatusLine } from './status-line.tsx'
import favicon from './favicon.svg'
import './styles/tokens.css'
import './styles/base.css'
import './styles/chrome.css'
import './styles/print.css'

export const metadata: Metadata = {
  title: { template: '%s · Millrace', default: 'Millrace' },
  description: 'A React application server on Express: streamed rendering against one shared route table.',
}

/** What every page of the site has around it. The header belongs to the areas, because it says in which one we are. */
export default function SiteLayout({ children }: { readonly children: ReactNode }) {
  return (
    <div className="site">
      <link rel="icon" href={favicon} type="image/svg+xml" />
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <StatusLine />
      {children}
      <footer className="site-footer">
        <p>
          Millrace, a React application server on Express. What you see here is the reference application: replace{' '}
          <code>src/app</code> by your own.
        </p>
        <ul>
          <li>
            <Link href="/docs">Handbook</Link>
          </li>
          <li>
            <Link href="/lab">Lab</Link>
          </li>
          <li>
            <a href={withBasePath('/lab/feed.json')}>Feed</a>
          </li>
          <li>
            <a href={withBasePath('/sitemap.xml')}>Sitemap</a>
          </li>
        </ul>
      </footer>
    </div>
  )
}
