import type { PageProps } from 'millrace'

type Props = PageProps<'/lab/bench/table', typeof import('./rows.server.ts')>

export const metadata = { title: 'Table' }

/** Many rows of text from a loader. */
export default function TablePage({ data }: Props) {
  return (
    <table>
      <tbody>
        {data.rows.map((row) => (
          <tr key={row.id}>
            <td>{row.id}</td>
            <td>{row.name}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
