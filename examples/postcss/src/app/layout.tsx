import type { ReactNode } from 'react'
import './styles.css'

export default function SiteLayout({ children }: { readonly children: ReactNode }) {
  return <main>{children}</main>
}
