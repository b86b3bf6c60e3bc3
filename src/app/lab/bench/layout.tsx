import type { LayoutProps } from 'millrace'

/** The workloads are measured without the site's chrome. */
export default function BenchLayout({ children }: LayoutProps) {
  return <main>{children}</main>
}
