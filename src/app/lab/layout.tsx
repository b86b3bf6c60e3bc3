import type { LayoutProps } from 'millrace'
import { SiteHeader } from '../site/header.tsx'
import { MainArea } from '../site/main-area.tsx'

/** The lab: one column. */
export default function LabLayout({ children }: LayoutProps) {
  return (
    <>
      <SiteHeader current="lab" />
      <MainArea>{children}</MainArea>
    </>
  )
}
