import type { PageProps } from 'millrace'
import HelloPage from './hello-page.tsx'
import { Slot } from './slot.tsx'

type Props = PageProps<'/lab/bench/shell/hello', typeof import('./slot.server.ts')>

export { metadata } from './hello-page.tsx'

/** That page, with a slot behind it. */
export default function ShellHelloPage({ data }: Props) {
  return (
    <>
      <HelloPage />
      <Slot visitor={data.visitor} />
    </>
  )
}
