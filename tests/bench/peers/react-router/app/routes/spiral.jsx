import { SpiralPage } from '../../workloads.js'

export function meta() {
  return [{ title: 'Spiral' }]
}

export default function Page() {
  return <SpiralPage />
}
