import { Slot } from '../../../../../slot.jsx'
import { HelloPage } from '../../../../../../workloads.js'

export const metadata = { title: 'Hello' }

export default function Page() {
  return (
    <>
      <HelloPage />
      <Slot />
    </>
  )
}
