import { useLocation, useSearch } from 'millrace'
import type { LayoutProps } from 'millrace'
import { SiteHeader } from '../site/header.tsx'
import { MainArea } from '../site/main-area.tsx'
import { ChapterNav } from './chapter-nav.tsx'
import { HandbookSearch } from './handbook-search.tsx'
import styles from './layout.module.css'

type Props = LayoutProps<'/docs', typeof import('./layout-loader.server.ts')>

/** The handbook: search and chapters beside the text. */
export default function DocsLayout({ data, children, params }: Props) {
  const { slug } = params as { readonly slug?: readonly string[] }
  const isSearch = useLocation().pathname === '/docs/search'
  const [search] = useSearch()
  // Chapters must not depend on the query: they are exported as files. And without the schema of the page where that is not
  // found, anything may be there.
  const query = isSearch && typeof search['q'] === 'string' ? search['q'] : ''
  const currentPath = isSearch ? '' : ['/docs', ...(slug ?? [])].join('/')
  return (
    <>
      <SiteHeader current="docs" />
      <div className={styles['columns']}>
        <div className={styles['side']}>
          <HandbookSearch asked={query} />
          <ChapterNav groups={data.groups} currentPath={currentPath} />
        </div>
        <MainArea>{children}</MainArea>
      </div>
    </>
  )
}
