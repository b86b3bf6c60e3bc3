import { external, Link, type PageProps } from 'millrace'
import { Crumbs } from '../lab/crumbs.tsx'
import { FileTabs } from '../site/file-tabs.tsx'
import styles from './page.module.css'

type Props = PageProps<'/lab/source/[...path]', typeof import('./loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: `Source: ${data.card?.title ?? data.pattern}` })

/** An experiment as it is written: its entry in the route table, and the modules that the entry names. */
export default function SourcePage({ data: { pattern, card, files } }: Props) {
  return (
    <article className={styles['source']}>
      <Crumbs pattern={pattern} />
      <h1>{`Source: ${card?.title ?? pattern}`}</h1>
      {card === undefined ? null : (
        <p className={styles['look']}>
          {card.look}{' '}
          <Link href={external(card.href)} prefetch="none">
            Open it
          </Link>
        </p>
      )}
      {/* The second file is the loader, or else the page: what most experiments are about. */}
      <FileTabs key={pattern} group="source-file" files={files} first={files[1]?.name} />
    </article>
  )
}
