import { external, Link } from 'millrace'
import type { Prefetch } from 'millrace'
import type { LabEntry } from './catalogue.ts'
import styles from './lab-card.module.css'

/** One page of the lab. The whole card is the link's target; its accessible name is the title alone. */
export function LabCard({ entry, prefetch }: { readonly entry: LabEntry; readonly prefetch: Prefetch }) {
  return (
    <div className={styles['card']}>
      <h3>
        <Link href={external(entry.href)} prefetch={prefetch}>
          {entry.title}
        </Link>
      </h3>
      <p>{entry.look}</p>
      <p className={styles['foot']}>
        <code>{entry.href}</code>
        {entry.status === undefined ? null : <span className={styles['status']}>{entry.status}</span>}
      </p>
    </div>
  )
}
