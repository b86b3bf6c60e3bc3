import type { PageProps } from 'millrace'
import SpiralPage from './spiral-page.tsx'
import { Slot } from './slot.tsx'

type Props = PageProps<'/lab/bench/shell/spiral', typeof import('./slot.server.ts')>

export { metadata } from './spiral-page.tsx'

/** That page, with a slot behind it. */
export default function ShellSpiralPage({ data }: Props) {
  return (
    <>
      <SpiralPage />
      <Slot visitor={data.visitor} />
    </>
  )
}
