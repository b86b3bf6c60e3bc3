import { Html, type HtmlValue } from 'millrace'
import styles from './file-tabs.module.css'

/** A source file, ready to be shown. */
export interface SourceFile {
  readonly name: string
  /** Its code as HTML, highlighted and escaped on the server. */
  readonly html: HtmlValue
}

/** Props of `FileTabs`. */
export interface FileTabsProps {
  /** The name of the radio buttons; one page has each name once. */
  readonly group: string
  readonly files: readonly SourceFile[]
  /** The name of the file that is shown first. */
  readonly first: string | undefined
}

/** Source files, one at a time. The tabs are radio buttons, so they need no script. */
export function FileTabs({ group, files, first }: FileTabsProps) {
  return (
    <fieldset className={styles['files']}>
      <legend className="visually-hidden">File</legend>
      {files.map(({ name, html }) => (
        <div key={name} className={styles['file']}>
          <label>
            <input type="radio" name={group} defaultChecked={name === first} />
            <code>{name}</code>
          </label>
          {/* Our own sources, highlighted on the server. */}
          <Html
            value={html}
            className={styles['code']}
            // It scrolls, so the keyboard must reach it.
            tabIndex={0}
            role="group"
            aria-label={name}
          />
        </div>
      ))}
    </fieldset>
  )
}
