import type { ReactNode } from 'react'
import { Link } from 'millrace'

/** Props of `Fallback`. */
export interface FallbackProps {
  /** The status, as a large numeral beside the title. */
  readonly status: string
  /** The heading. */
  readonly title: string
  /** What the visitor can do now. */
  readonly children: ReactNode
  /** What may help beyond that, below the text. */
  readonly more?: ReactNode
}

/** The page in the place of one that was refused. */
export function Fallback({ status, title, children, more }: FallbackProps) {
  return (
    <div className="fallback">
      <p className="fallback-status" aria-hidden="true">
        {status}
      </p>
      <h1 data-testid="fallback">{title}</h1>
      <p>{children}</p>
      {more}
      <p className="fallback-ways">
        <Link href="/">Home</Link> <Link href="/docs">Handbook</Link> <Link href="/lab">Lab</Link>
      </p>
    </div>
  )
}
