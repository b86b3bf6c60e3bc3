import type { Entry } from './entry.ts'
import { RemoveForm } from './remove-form.tsx'
import styles from './entry-list.module.css'

/** An entry in the list; `sending` until the server has it. */
export interface ShownEntry extends Entry {
  readonly sending?: true
}

/** Props of `EntryList`. */
export interface EntryListProps {
  readonly entries: readonly ShownEntry[]
  /** Whether what is being sent could not be sent, and waits. */
  readonly isUnsent: boolean
}

/** Entries, newest first. */
export function EntryList({ entries, isUnsent }: EntryListProps) {
  return (
    <ol data-testid="entries" className={styles['entries']} aria-label="Entries, newest first">
      {entries.map((entry) => (
        <li
          key={entry.id}
          className={styles['entry']}
          data-sending={entry.sending}
          aria-busy={entry.sending && !isUnsent}
        >
          <p className={styles['head']}>
            <bdi className={styles['name']}>{entry.name}</bdi>
            <When {...entry} isUnsent={isUnsent} />
          </p>
          <p className={styles['message']} dir="auto">
            {entry.message}
          </p>
          {entry.own ? <RemoveForm id={entry.id} name={entry.name} until={entry.removableUntil} /> : null}
        </li>
      ))}
    </ol>
  )
}

function When({ at, sending, isUnsent }: ShownEntry & Pick<EntryListProps, 'isUnsent'>) {
  if (sending === true) return <span className={styles['when']}>{isUnsent ? 'not sent' : 'on its way …'}</span>
  const moment = new Date(at).toISOString()
  return (
    <time className={styles['when']} dateTime={moment}>
      {/* One form for server and browser: their clocks and languages may differ. */}
      {`${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC`}
    </time>
  )
}
