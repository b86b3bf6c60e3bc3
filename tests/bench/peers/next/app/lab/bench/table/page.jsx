import { loadRows } from '../../../../rows.server.js'
import { TablePage } from '../../../../workloads.js'

export const metadata = { title: 'Table' }

export default async function Page({ searchParams }) {
  const { n } = await searchParams
  return <TablePage data={await loadRows(n)} />
}
