import { keptRows } from '../../../../../rows.js'
import { Slot } from '../../../../../slot.jsx'
import { LinksPage } from '../../../../../../workloads.js'

export const metadata = { title: 'Links' }

export default async function Page() {
  return (
    <>
      <LinksPage data={await keptRows()} />
      <Slot />
    </>
  )
}
