import type { ReactNode } from 'react'
import { Link, type Metadata } from 'millrace'
import './styles.css'

export const metadata: Metadata = { title: { template: '%s · APP_NAME', default: 'APP_NAME' } }

export default function SiteLayout({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <header>
        <nav aria-label="Pages">
          <Link href="/">Home</Link>
          <Link href="/mills/1">A mill</Link>
          <Link href="/guestbook">Guestbook</Link>
        </nav>
      </header>
      <main>{children}</main>
    </>
  )
}
