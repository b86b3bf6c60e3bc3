import type { ReactNode } from 'react'
import { SiteHeader } from '../header.tsx'
import SiteLayout from '../layout.tsx'
import { MainArea } from '../main-area.tsx'

/** The site's chrome for the root's fallbacks, which are outside every layout. */
export function Chrome({ children }: { readonly children: ReactNode }) {
  return (
    <SiteLayout>
      <SiteHeader />
      <MainArea>{children}</MainArea>
    </SiteLayout>
  )
}
