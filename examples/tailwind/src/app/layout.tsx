import type { ReactNode } from 'react'
import './styles.css'

export default function SiteLayout({ children }: { readonly children: ReactNode }) {
  return <main className="mx-auto max-w-2xl p-4 sm:p-8">{children}</main>
}
