import { useId } from 'react'
import type { InspectorCell, InspectorRow, InspectorTable } from './inspector-table.ts'

/** What an inspector can do with a cached path. */
export interface InspectorCommands {
  /** Drops the entries of this path; nothing is fetched until a page needs them. */
  drop(path: string): void
  /** Drops the entries of this path, and fetches them again. */
  refetch(path: string): void
}

/** Props of `InspectorView`. */
interface InspectorViewProps {
  readonly tables: readonly InspectorTable[]
  /** Offered for rows with a path. */
  readonly commands?: InspectorCommands | undefined
  /** Put before the test ids of the tables, which are their ids. */
  readonly testIdPrefix?: string | undefined
}

/** Tables of an inspector. Add `INSPECTOR_STYLE` to the document or shadow root. */
export function InspectorView({ tables, commands, testIdPrefix = '' }: InspectorViewProps) {
  return (
    <div className="millrace-inspector">
      {tables.map((table) => (
        <TableView key={table.id} table={table} commands={commands} testId={testIdPrefix + table.id} />
      ))}
    </div>
  )
}

interface TableViewProps extends Pick<InspectorViewProps, 'commands'> {
  readonly table: InspectorTable
  readonly testId: string
}

/** A table that is too wide scrolls in a box of its own. */
function TableView({ table: { title, note, columns, rows, empty }, commands, testId }: TableViewProps) {
  const headingId = useId()
  const hasCommands = commands !== undefined && rows.some(({ path }) => path !== undefined)
  return (
    <section aria-labelledby={headingId} data-testid={testId}>
      <h2 id={headingId}>{title}</h2>
      {note === undefined ? null : <p>{note}</p>}
      {rows.length === 0 ? (
        <p>{empty}</p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        <div className="scroll" tabIndex={0} role="group" aria-label={`${title}, table`}>
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
                {hasCommands ? <th scope="col">Commands</th> : null}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <RowView key={row.key} row={row} columns={columns} commands={hasCommands ? commands : undefined} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

interface RowViewProps extends Pick<InspectorViewProps, 'commands'> {
  readonly row: InspectorRow
  readonly columns: readonly string[]
}

function RowView({ row: { cells, path }, columns, commands }: RowViewProps) {
  return (
    <tr>
      {cells.map((cell, index) => (
        <CellView key={columns[index]} cell={cell} />
      ))}
      {commands && path !== undefined ? (
        <td className="commands">
          <button type="button" aria-label={`Refetch ${path}`} onClick={() => commands.refetch(path)}>
            Refetch
          </button>
          <button type="button" aria-label={`Drop ${path}`} onClick={() => commands.drop(path)}>
            Drop
          </button>
        </td>
      ) : null}
    </tr>
  )
}

function CellView({ cell: { text, code, tone, phases, bar } }: { readonly cell: InspectorCell }) {
  return (
    <td>
      {phases === undefined ? null : (
        <span className="bars" aria-hidden="true">
          <i data-phase="ready" style={{ width: percent(phases.ready) }} />
          <i data-phase="commit" style={{ width: percent(phases.commit) }} />
        </span>
      )}
      {bar === undefined ? null : (
        <span className="bars wide" aria-hidden="true">
          <i data-phase="waiting" style={{ marginInlineStart: percent(bar.start), width: percent(bar.waiting) }} />
          <i data-phase="receiving" style={{ width: percent(bar.receiving) }} />
        </span>
      )}
      {code === true ? <code>{text}</code> : tone === undefined ? text : <span data-tone={tone}>{text}</span>}
    </td>
  )
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`
}
