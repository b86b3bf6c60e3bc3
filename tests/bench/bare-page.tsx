/**
 * What a navigation of the client router is measured against: the same pages of the reference application, swapped by
 * one `root.render` inside of `startTransition`. No data to be fetched, and no history, scrolling or focus, unless the
 * page was opened with `?duties`: then with the least that any router owes its visitors.
 */
import { Component, startTransition, type ReactNode } from 'react'
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

/** The address, the top of the page, and the focus on its heading: in the document before anybody sees the page. */
class Duties extends Component<{ readonly path: string; readonly children: ReactNode }> {
  override componentDidUpdate(): void {
    history.pushState(null, '', this.props.path)
    window.scrollTo({ left: 0, top: 0, behavior: 'instant' })
    const heading = document.querySelector('h1')
    heading?.setAttribute('tabindex', '-1')
    heading?.focus({ preventScroll: true })
  }

  override render(): ReactNode {
    return this.props.children
  }
}

const hasDuties = location.search === '?duties'

function show(key: string): void {
  const tree = treeOf(key)
  startTransition(() => root.render(hasDuties ? <Duties path={`/lab/cache/${key}`}>{tree}</Duties> : tree))
}

const root = createRoot(document)
show('1')

window.addEventListener('click', (event) => {
  const key = /^\/lab\/cache\/(\w+)$/.exec((event.target as Element).closest('a')?.pathname ?? '')?.[1]
  if (key === undefined) return
  event.preventDefault()
  show(key)
})
