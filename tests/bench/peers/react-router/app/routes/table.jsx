import { loadRows } from '../../rows.server.js'
import { TablePage } from '../../workloads.js'

export function meta() {
  return [{ title: 'Table' }]
}

export function loader({ request }) {
  return loadRows(new URL(request.url).searchParams.get('n'))
}

export default function Page({ loaderData }) {
  return <TablePage data={loaderData} />
}
