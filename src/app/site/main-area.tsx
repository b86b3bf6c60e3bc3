import type { ReactNode } from 'react'

/** The page's main landmark. The skip link moves the focus here. */
export function MainArea({ children }: { readonly children: ReactNode }) {
  return (
    <main id="main" tabIndex={-1} className="site-main">
      {children}
    </main>
  )
}
