import { keptRows } from '../../../../../rows.js'
import { Slot } from '../../../../../slot.jsx'
import { TablePage } from '../../../../../../workloads.js'

export const metadata = { title: 'Table' }

export default async function Page() {
  return (
    <>
      <TablePage data={await keptRows()} />
      <Slot />
    </>
  )
}
