import type { ReactNode } from 'react'

/** The page's main landmark. It takes the focus that the skip link hands over. */
export function MainArea({ children }: { readonly children: ReactNode }) {
  return (
    <main id="main" tabIndex={-1} className="site-main">
      {children}
    </main>
  )
}
