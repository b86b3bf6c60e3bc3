import { SpiralPage } from '../../../../workloads.js'

export const metadata = { title: 'Spiral' }
export const dynamic = 'force-dynamic' // the others render each answer, too

export default function Page() {
  return <SpiralPage />
}
