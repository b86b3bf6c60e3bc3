import type { ReactNode } from 'react'
import './styles.scss'

export default function SiteLayout({ children }: { readonly children: ReactNode }) {
  return <main>{children}</main>
}
