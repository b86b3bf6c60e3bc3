import type { ReactNode } from 'react'
import { Crumbs } from './crumbs.tsx'
import { SourceLink } from './source-link.tsx'
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
      <div className={styles['head']}>
        <Crumbs pattern={pattern} />
        <SourceLink pattern={pattern} />
      </div>
      <h1>{title}</h1>
      <p className={styles['lede']}>{lede}</p>
      {children}
    </article>
  )
}
