import { Link } from 'millrace'
import { trustedProse } from '../docs/trusted-prose.ts'
import type { ExampleFile } from './example-files.server.ts'
import styles from './example.module.css'

/** The files of a page that runs in the lab, one at a time. The tabs are radio buttons, so they need no script. */
export function Example({ files }: { readonly files: readonly ExampleFile[] }) {
  return (
    <section aria-labelledby="example" className={styles['example']}>
      <header>
        <h2 id="example">A whole page</h2>
        <p>
          One entry of the route table, a loader that runs on the server only, a page, and a form that works without
          JavaScript. Its types come from the pattern and from the loader. Nothing is generated.
        </p>
        <p>
          These files run: <Link href="/lab/mills/upper">open the page that they make</Link>.
        </p>
      </header>
      <fieldset className={styles['files']}>
        <legend className="visually-hidden">File</legend>
        {files.map(({ name, html }) => (
          <div key={name} className={styles['file']}>
            <label>
              <input type="radio" name="example-file" defaultChecked={name === 'page.tsx'} />
              <code>{name}</code>
            </label>
            {/* Our own sources, highlighted on the server. */}
            <div
              className={styles['code']}
              // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
              tabIndex={0}
              role="group"
              aria-label={name}
              dangerouslySetInnerHTML={{ __html: trustedProse(html) }}
            />
          </div>
        ))}
      </fieldset>
    </section>
  )
}
