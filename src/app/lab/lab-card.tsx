import { useId } from 'react'
import { external, Link } from 'millrace'
import type { Prefetch } from 'millrace'
import { patternOf, type LabEntry } from './catalogue.ts'
import { SourceLink } from './source-link.tsx'
import styles from './lab-card.module.css'

const STATUSES: Readonly<Record<number, readonly [words: string, kind: 'good' | 'warn' | 'alarm' | undefined]>> = {
  200: ['OK', 'good'],
  307: ['Temporary Redirect', undefined],
  308: ['Permanent Redirect', undefined],
  401: ['Unauthorized', 'warn'],
  403: ['Forbidden', 'warn'],
  404: ['Not Found', 'warn'],
  500: ['Internal Server Error', 'alarm'],
  503: ['Service Unavailable', 'alarm'],
}

/** One page of the lab. The whole card is the link's target; its accessible name is the title alone. */
export function LabCard({ entry, prefetch }: { readonly entry: LabEntry; readonly prefetch: Prefetch }) {
  const titleId = useId()
  const { status = 200 } = entry
  const [words, kind] = STATUSES[status] ?? []
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
        <span className="status" data-status={kind}>{`${status} ${words}`}</span>
        {pattern === undefined ? null : <SourceLink pattern={pattern} describedBy={titleId} />}
      </p>
    </div>
  )
}
