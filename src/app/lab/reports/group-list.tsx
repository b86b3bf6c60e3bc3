import { href, Link } from 'millrace'
import { Badges } from './badges.tsx'
import { Moment } from './moment.tsx'
import styles from './group-list.module.css'

/** A group, as far as the list shows it. */
export interface ListedGroup {
  readonly id: string
  readonly title: string
  readonly route: string | undefined
  readonly level: string
  readonly sides: readonly string[]
  readonly releases: readonly string[]
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly firstAt: number
  readonly lastAt: number
  /** The event to show first. */
  readonly item: number
}

/** Props of `GroupList`. */
export interface GroupListProps {
  readonly groups: readonly ListedGroup[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Whether links lead to the event that fits the filter, not to the newest one. */
  readonly isFiltered: boolean
}

/** Groups of failures, one entry each. */
export function GroupList({ groups, now, isFiltered }: GroupListProps) {
  return (
    <ol data-testid="reports" className={styles['groups']} aria-label="Failures, the most recent first">
      {groups.map(({ id, title, route, level, sides, releases, count, firstAt, lastAt, item }) => (
        <li key={id} className={styles['group']}>
          <p className={styles['head']}>
            <Link
              href={href('/lab/reports/[id]', { id }, isFiltered ? { item } : {})}
              className={styles['title']}
              prefetch="none"
            >
              <bdi>{title}</bdi>
            </Link>
            <span className={styles['count']} aria-label={count === 1 ? 'once' : `${count} times`}>
              {`×${count.toLocaleString('en')}`}
            </span>
          </p>
          <div className={styles['foot']}>
            <Badges level={level} sides={sides} releases={releases} />
            {route === undefined ? null : (
              <code>
                <bdi>{route}</bdi>
              </code>
            )}
            <span>
              {count === 1 ? null : 'last '}
              <Moment at={lastAt} now={now} />
              {count === 1 ? null : (
                <>
                  , first <Moment at={firstAt} now={now} />
                </>
              )}
            </span>
          </div>
        </li>
      ))}
    </ol>
  )
}
