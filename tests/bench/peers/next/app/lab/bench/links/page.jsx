import { loadRows } from '../../../../rows.server.js'
import { LinksPage } from '../../../../workloads.js'

export const metadata = { title: 'Links' }

export default async function Page({ searchParams }) {
  const { n } = await searchParams
  return <LinksPage data={await loadRows(n)} />
}
