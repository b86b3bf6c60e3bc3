import { useSearch } from 'millrace'
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
  const [search] = useSearch()
  // The not-found page has no schema.
  const query = typeof search['q'] === 'string' ? search['q'] : ''
  // The results of a search belong to no chapter.
  const currentPath = query === '' ? ['/docs', ...(slug ?? [])].join('/') : ''
  return (
    <>
      <SiteHeader current="docs" />
      <div className={styles['columns']}>
        <div className={styles['side']}>
          <HandbookSearch asked={query} />
          <ChapterNav chapters={data.chapters} currentPath={currentPath} />
        </div>
        <MainArea>{children}</MainArea>
      </div>
    </>
  )
}
