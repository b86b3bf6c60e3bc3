import type { InspectorCell, InspectorTable, NavigationPhases } from 'millrace/inspect'
import styles from './inspector.module.css'

/** One table of the inspector. What is too wide scrolls in a box of its own. */
export function Instrument({ table }: { readonly table: InspectorTable }) {
  const { id, title, note, columns, rows, empty } = table
  const headingId = `${id}-heading`
  return (
    <section aria-labelledby={headingId} data-testid={id} className={styles['instrument']}>
      <h2 id={headingId}>{title}</h2>
      {note === undefined ? null : <p className={styles['note']}>{note}</p>}
      {rows.length === 0 ? (
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
            <tbody>
              {rows.map(({ key, cells }) => (
                <tr key={key}>
                  {cells.map((cell, index) => (
                    <Cell key={columns[index]} cell={cell} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function Cell({ cell: { text, code, phases } }: { readonly cell: InspectorCell }) {
  return (
    <td>
      {phases === undefined ? null : <TimeLine phases={phases} />}
      {code === true ? <code>{text}</code> : text}
    </td>
  )
}

function TimeLine({ phases: { ready, commit } }: { readonly phases: NavigationPhases }) {
  return (
    <span className={styles['bars']} aria-hidden="true">
      <span className={styles['ready']} style={{ width: `${100 * ready}%` }} />
      <span className={styles['commit']} style={{ width: `${100 * commit}%` }} />
    </span>
  )
}
