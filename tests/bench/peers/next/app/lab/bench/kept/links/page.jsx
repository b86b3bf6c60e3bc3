import { loadRows } from '../../../../../rows.server.js'
import { LinksPage } from '../../../../../workloads.js'

export const metadata = { title: 'Links' }
export const dynamic = 'force-static' // from its cache, as ours is: the query is always that of the workload
export const revalidate = 3600

export default async function Page() {
  return <LinksPage data={await loadRows(1000)} />
}
