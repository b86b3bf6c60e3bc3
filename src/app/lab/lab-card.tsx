import { useId } from 'react'
import { external, Link } from 'millrace'
import type { Prefetch } from 'millrace'
import { patternOf, type LabEntry } from './catalogue.ts'
import { SourceLink } from './source-link.tsx'
import styles from './lab-card.module.css'

/** One page of the lab. The whole card is the link's target; its accessible name is the title alone. */
export function LabCard({ entry, prefetch }: { readonly entry: LabEntry; readonly prefetch: Prefetch }) {
  const titleId = useId()
  const pattern = patternOf(entry)
  return (
    <div className={styles['card']}>
      <h3 id={titleId}>
        <Link href={external(entry.href)} prefetch={prefetch}>
          {entry.title}
        </Link>
      </h3>
      <p>{entry.look}</p>
      <p>
        <code>{entry.href}</code>
      </p>
      <p className={styles['foot']}>
        {entry.status === undefined ? null : <span className={styles['status']}>{entry.status}</span>}
        {pattern === undefined ? null : <SourceLink pattern={pattern} describedBy={titleId} />}
      </p>
    </div>
  )
}
