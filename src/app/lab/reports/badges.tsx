import { href, Link } from 'millrace'
import { filterQuery } from './report-filter.ts'
import styles from './badges.module.css'

/** Props of `Badges`. */
export interface BadgesProps {
  readonly level: string
  readonly sides: readonly string[]
  readonly releases: readonly string[]
}

const KINDS: Readonly<Record<string, 'alarm' | 'warn'>> = { fatal: 'alarm', error: 'alarm', warning: 'warn' }

/** Level, sides and releases of a failure. Each release leads to all failures of it. */
export function Badges({ level, sides, releases }: BadgesProps) {
  return (
    <ul className={styles['badges']} aria-label="Level, sides and releases">
      <li>
        <span className="status" data-status={KINDS[level]}>
          {level}
        </span>
      </li>
      {sides.map((side) => (
        <li key={side} className={styles['badge']}>
          {side}
        </li>
      ))}
      {releases.map((release) => (
        <li key={release}>
          <Link
            href={href('/lab/reports', {}, filterQuery({ release }))}
            prefetch="none"
            className={styles['badge']}
            aria-label={`Release ${release}: show its failures`}
          >
            release <bdi>{release}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  )
}
