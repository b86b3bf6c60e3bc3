import styles from './code-sample.module.css'

/** Props of `CodeSample`. */
export interface CodeSampleProps {
  /** Names the region for screen readers. */
  readonly label: string
  /** The code; whatever follows `//` on a line is set back. */
  readonly text: string
}

/** A few lines of code, without a highlighter: only comments are set apart. */
export function CodeSample({ label, text }: CodeSampleProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
    <pre className={styles['sample']} tabIndex={0} role="group" aria-label={label}>
      <code>
        {text.split(/(\/\/.*)/).map((part, index) =>
          index % 2 === 0 ? (
            part
          ) : (
            <span key={index} className={styles['comment']}>
              {part}
            </span>
          ),
        )}
      </code>
    </pre>
  )
}
