import type { ReactNode } from 'react'
import { AnswerHead } from './answer-head.tsx'
import { LAB_GROUPS, patternOf } from './catalogue.ts'
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

/** The frame of one page of the lab: where we are, the thing itself, and beside it what to look at and the answer's head. */
export function Experiment({ title, pattern, lede, isWide = false, children }: ExperimentProps) {
  const beside = <Beside pattern={pattern} />
  return (
    <div className={isWide ? `${styles['frame']} ${styles['wide']}` : styles['frame']}>
      <article className={styles['experiment']}>
        <div className={styles['head']}>
          <Crumbs pattern={pattern} />
          <SourceLink pattern={pattern} />
        </div>
        <h1>{title}</h1>
        <p className={styles['lede']}>{lede}</p>
        {/* Below tables that grow it would move, and be out of sight. */}
        {isWide ? beside : null}
        {children}
      </article>
      {isWide ? null : beside}
    </div>
  )
}

function Beside({ pattern }: Pick<ExperimentProps, 'pattern'>) {
  const looks = LAB_GROUPS.flatMap(({ entries }) => entries).filter((entry) => patternOf(entry) === pattern)
  return (
    <aside className={styles['beside']} aria-label="About this experiment">
      {looks.length === 0 ? null : (
        <section>
          <h2>What to look at</h2>
          {looks.map(({ href, look }) => (
            <p key={href}>{look}</p>
          ))}
        </section>
      )}
      <AnswerHead />
    </aside>
  )
}
