import type { ReactNode } from 'react'
import { Link, type Metadata } from 'millrace'
import './styles.css'

export const metadata: Metadata = { title: { template: '%s · APP_NAME', default: 'APP_NAME' } }

export default function SiteLayout({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <header className="border-b border-rule">
        <nav aria-label="Pages" className="mx-auto flex max-w-2xl flex-wrap gap-x-6 gap-y-2 p-4">
          <Link href="/">Home</Link>
          <Link href="/mills/1">A mill</Link>
          <Link href="/guestbook">Guestbook</Link>
        </nav>
      </header>
      <main className="mx-auto max-w-2xl p-4">{children}</main>
    </>
  )
}
