import { href, Link } from 'millrace'
import { Moment } from './moment.tsx'
import styles from './group-list.module.css'

/** A group, as far as the list shows it. */
export interface ListedGroup {
  readonly id: string
  readonly title: string
  readonly route: string | undefined
  readonly sides: readonly string[]
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly lastAt: number
}

/** Groups of failures, one entry each. */
export function GroupList({ groups }: { readonly groups: readonly ListedGroup[] }) {
  return (
    <ol data-testid="reports" className={styles['groups']} aria-label="Failures, the most recent first">
      {groups.map(({ id, title, route, sides, count, lastAt }) => (
        <li key={id} className={styles['group']}>
          <p className={styles['head']}>
            <Link href={href('/lab/reports/[id]', { id })} className={styles['title']}>
              {title}
            </Link>
            <span className={styles['count']} aria-label={count === 1 ? 'once' : `${count} times`}>
              {`×${count.toLocaleString('en')}`}
            </span>
          </p>
          <p className={styles['foot']}>
            <span>{sides.join(', ')}</span>
            {route === undefined ? null : <code>{route}</code>}
            <Moment at={lastAt} />
          </p>
        </li>
      ))}
    </ol>
  )
}
