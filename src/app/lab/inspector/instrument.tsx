import type { ReactNode } from 'react'
import styles from './inspector.module.css'

/** Props of `Instrument`. */
export interface InstrumentProps {
  /** The `data-testid` of the region, and the prefix of its heading's id. */
  readonly testId: string
  readonly title: string
  /** What is to be known before the table. */
  readonly note?: string
  readonly columns: readonly string[]
  /** Rows of the table, one cell a column. */
  readonly children: readonly ReactNode[]
  /** Said in place of a table without rows. */
  readonly empty: string
}

/** One table of the inspector. What is too wide scrolls in a box of its own. */
export function Instrument({ testId, title, note, columns, children, empty }: InstrumentProps) {
  const headingId = `${testId}-heading`
  return (
    <section aria-labelledby={headingId} data-testid={testId} className={styles['instrument']}>
      <h2 id={headingId}>{title}</h2>
      {note === undefined ? null : <p className={styles['note']}>{note}</p>}
      {children.length === 0 ? (
        <p className={styles['note']}>{empty}</p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        <div className={styles['scroll']} tabIndex={0} role="group" aria-label={`${title}, table`}>
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        </div>
      )}
    </section>
  )
}
