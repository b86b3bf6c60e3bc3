import { href, Link } from 'millrace'
import { Moment } from './moment.tsx'
import styles from './item-list.module.css'

/** An event or a transaction, as far as the list shows it. */
export interface ListedItem {
  readonly id: number
  readonly kind: 'error' | 'transaction'
  readonly side: string
  readonly title: string
  /** Of an error. */
  readonly group: string | undefined
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
}

/** Props of `ItemList`. */
export interface ItemListProps {
  readonly testId: string
  readonly title: string
  readonly items: readonly ListedItem[]
  /** Id of the one that is on screen. */
  readonly current: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Events and transactions with links to those that are errors. */
export function ItemList({ testId, title, items, current, now }: ItemListProps) {
  return (
    <section className={styles['items']}>
      <h2>{title}</h2>
      <ol data-testid={testId}>
        {items.map((item) => (
          <li key={item.id}>
            <Moment at={item.receivedAt} now={now} />
            <span>{item.kind === 'error' ? item.side : `${item.side}, ${item.kind}`}</span>
            {item.group === undefined ? (
              <bdi>{item.title}</bdi>
            ) : (
              <Link
                href={href('/lab/reports/[id]', { id: item.group }, { item: item.id })}
                aria-current={item.id === current ? 'page' : undefined}
              >
                <bdi>{item.title}</bdi>
              </Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
