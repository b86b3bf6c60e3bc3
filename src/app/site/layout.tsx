import type { ReactNode } from 'react'
import { preload } from 'react-dom'
import { Link, withBasePath } from 'millrace'
import type { Metadata } from 'millrace'
import { StatusLine } from './status-line.tsx'
import { ThemeHead } from './theme-head.tsx'
import codeFont from './fonts/geist-mono.woff2'
import textFont from './fonts/instrument-sans.woff2'
import { openGraph } from './open-graph.ts'
import favicon from './favicon.svg'
import './styles/fonts.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/chrome.css'
import './styles/code.css'
import './styles/print.css'

export const metadata: Metadata = {
  title: { template: '%s · Millrace', default: 'Millrace' },
  description: 'A React application server on Express: streamed rendering against one shared route table.',
  openGraph: openGraph(),
}

/** What every page of the site has around it. The header belongs to the areas, because it says in which one we are. */
export default function SiteLayout({ children }: { readonly children: ReactNode }) {
  for (const font of [textFont, codeFont]) preload(font, { as: 'font', type: 'font/woff2', crossOrigin: 'anonymous' })
  return (
    <div className="site">
      <ThemeHead />
      <link rel="icon" href={favicon} type="image/svg+xml" />
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <StatusLine />
      {children}
      <footer className="site-footer">
        <p>
          Millrace, a React application server on Express. What you see here is the reference application: replace{' '}
          <code>src/app</code> with your own.
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
