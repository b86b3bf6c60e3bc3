import { Spiral } from './spiral.tsx'

export const metadata = { title: 'Spiral' }

/** Many elements with computed styles. */
export default function SpiralPage() {
  return <Spiral />
}
