import type { ReactNode } from 'react'
import { Link } from 'millrace'
import styles from './experiment.module.css'

/** Props of `Experiment`. */
export interface ExperimentProps {
  /** The page's heading. */
  readonly title: string
  /** The pattern or rule the page stands for, as the route table writes it. */
  readonly pattern: string
  /** What happens here, in one or two sentences. */
  readonly lede: ReactNode
  /** Whether it takes the whole width, for tables. */
  readonly isWide?: boolean
  readonly children?: ReactNode
}

/** The frame of one page of the lab: where we are, what to look for, then the thing itself. */
export function Experiment({ title, pattern, lede, isWide = false, children }: ExperimentProps) {
  return (
    <article className={isWide ? `${styles['experiment']} ${styles['wide']}` : styles['experiment']}>
      <nav aria-label="Breadcrumb" className={styles['crumbs']}>
        <Link href="/lab">Lab</Link>
        <span aria-hidden="true">/</span>
        <code>{pattern}</code>
      </nav>
      <h1>{title}</h1>
      <p className={styles['lede']}>{lede}</p>
      {children}
    </article>
  )
}
