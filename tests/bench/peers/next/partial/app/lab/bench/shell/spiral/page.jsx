import { Slot } from '../../../../../slot.jsx'
import { SpiralPage } from '../../../../../../workloads.js'

export const metadata = { title: 'Spiral' }

export default function Page() {
  return (
    <>
      <SpiralPage />
      <Slot />
    </>
  )
}
