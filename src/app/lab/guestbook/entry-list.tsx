import type { Entry } from './entry.ts'
import { RemoveForm } from './remove-form.tsx'
import styles from './entry-list.module.css'

/** An entry in the list; `sending` until the server has it. */
export interface ShownEntry extends Entry {
  readonly sending?: true
}

/** Entries, newest first. */
export function EntryList({ entries }: { readonly entries: readonly ShownEntry[] }) {
  return (
    <ol data-testid="entries" className={styles['entries']} aria-label="Entries, newest first">
      {entries.map((entry) => (
        <li key={entry.id} className={styles['entry']} data-sending={entry.sending} aria-busy={entry.sending}>
          <p className={styles['head']}>
            <bdi className={styles['name']}>{entry.name}</bdi>
            <When {...entry} />
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

function When({ at, sending }: ShownEntry) {
  if (sending === true) return <span className={styles['when']}>on its way …</span>
  const moment = new Date(at).toISOString()
  return (
    <time className={styles['when']} dateTime={moment}>
      {/* One form for server and browser: their clocks and languages may differ. */}
      {`${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC`}
    </time>
  )
}
