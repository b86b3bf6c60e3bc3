import type { PageProps } from 'millrace'
import LinksPage from './links-page.tsx'
import { Slot } from './slot.tsx'

type Props = PageProps<'/lab/bench/shell/links', typeof import('./slot-rows.server.ts')>

export { metadata } from './links-page.tsx'

/** That page, with a slot behind it. */
export default function ShellLinksPage({ params, search, data }: Props) {
  return (
    <>
      <LinksPage params={params} search={search} data={data} />
      <Slot visitor={data.visitor} />
    </>
  )
}
