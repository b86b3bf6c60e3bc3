import { external, Link } from 'millrace'
import type { PageProps } from 'millrace'

type Props = PageProps<'/lab/bench/links', typeof import('./rows.server.ts')>

export const metadata = { title: 'Links' }

/** The table, with a link in every row. */
export default function LinksPage({ data }: Props) {
  return (
    <table>
      <tbody>
        {data.rows.map((row) => (
          <tr key={row.id}>
            <td>
              <Link href={external(`/lab/cache/${row.id}`)} prefetch="viewport">
                {row.id}
              </Link>
            </td>
            <td>{row.name}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
