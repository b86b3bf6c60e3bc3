import { SpiralPage } from '../../../../../workloads.js'

export const metadata = { title: 'Spiral' }
export const dynamic = 'force-static' // from its cache, as ours is
export const revalidate = 3600

export default function Page() {
  return <SpiralPage />
}
