import { Link } from 'millrace'
import { FileTabs, type SourceFile } from '../site/file-tabs.tsx'
import styles from './example.module.css'

/** The files of a page that runs in the lab. */
export function Example({ files }: { readonly files: readonly SourceFile[] }) {
  return (
    <section aria-labelledby="example" className={styles['example']}>
      <header>
        <h2 id="example">A whole page</h2>
        <p>
          One entry of the route table, a loader that runs only on the server, a page, and a form that works without
          JavaScript. The types come from the URL pattern and the loader, without generated files.
        </p>
        <p>
          This code runs in the lab: <Link href="/lab/mills/upper">open the page</Link>.
        </p>
      </header>
      <FileTabs group="example-file" files={files} first="page.tsx" />
    </section>
  )
}
