import { loadRows } from '../../rows.server.js'
import { LinksPage } from '../../workloads.js'

export function meta() {
  return [{ title: 'Links' }]
}

export function loader({ request }) {
  return loadRows(new URL(request.url).searchParams.get('n'))
}

export default function Page({ loaderData }) {
  return <LinksPage data={loaderData} />
}
