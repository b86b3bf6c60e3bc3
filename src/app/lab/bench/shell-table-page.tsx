import type { PageProps } from 'millrace'
import TablePage from './table-page.tsx'
import { Slot } from './slot.tsx'

type Props = PageProps<'/lab/bench/shell/table', typeof import('./slot-rows.server.ts')>

export { metadata } from './table-page.tsx'

/** That page, with a slot behind it. */
export default function ShellTablePage({ params, search, data }: Props) {
  return (
    <>
      <TablePage params={params} search={search} data={data} />
      <Slot visitor={data.visitor} />
    </>
  )
}
