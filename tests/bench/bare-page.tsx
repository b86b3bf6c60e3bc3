/**
 * What a navigation of the client router is measured against: the same pages of the reference application, swapped by
 * one `root.render` inside of `startTransition`. No history, no scrolling, no focus, no data to be fetched.
 */
import { startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { Document } from '../../src/app/document.tsx'
import CachePage, { metadata } from '../../src/app/lab/cache/page.tsx'
import LabLayout from '../../src/app/lab/layout.tsx'
import SiteLayout from '../../src/app/site/layout.tsx'

/** As `defineRoutes` types them, the page's props come from the table; here they are made by hand. */
const Page = CachePage as (props: object) => ReturnType<typeof CachePage>
const NO_DATA = undefined as never
const NO_PARAMS = Object.freeze({})

function treeOf(key: string) {
  const props = { params: { key }, search: {}, data: { renderedAt: 1_700_000_000_000 } } as never
  return (
    <Document head={<title>{`${metadata(props).title} · Millrace`}</title>}>
      <SiteLayout>
        <LabLayout params={NO_PARAMS} data={NO_DATA}>
          <Page key={key} {...(props as object)} />
        </LabLayout>
      </SiteLayout>
    </Document>
  )
}

const root = createRoot(document)
startTransition(() => root.render(treeOf('1')))

window.addEventListener('click', (event) => {
  const key = /^\/lab\/cache\/(\w+)$/.exec((event.target as Element).closest('a')?.pathname ?? '')?.[1]
  if (key === undefined) return
  event.preventDefault()
  startTransition(() => root.render(treeOf(key)))
})
