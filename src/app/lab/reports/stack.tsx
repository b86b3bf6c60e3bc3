import styles from './stack.module.css'

/** One line of a stack. */
export interface ShownFrame {
  readonly function: string
  readonly file: string
  readonly line: number | undefined
  readonly column: number | undefined
  readonly inApp: boolean
  readonly mapped: boolean
}

/** Props of `Stack`. */
export interface StackProps {
  readonly heading: string
  readonly exception: { readonly type: string; readonly value: string; readonly frames: readonly ShownFrame[] }
}

/** What was thrown and where, the innermost call first. Code that is not the application's own stands back. */
export function Stack({ heading, exception }: StackProps) {
  const { type, value, frames } = exception
  return (
    <section className={styles['stack']}>
      <h2>{heading}</h2>
      <p className={styles['message']}>{[type, value].filter((part) => part !== '').join(': ')}</p>
      {frames.length === 0 ? (
        <p className={styles['note']}>It has come without a stack.</p>
      ) : (
        <ol data-testid="report-frames" className={styles['frames']}>
          {frames.map((frame, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- frames have no name, and their order never changes
            <li key={at} data-own={frame.inApp ? '' : undefined}>
              <code>{textOf(frame)}</code>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

function textOf({ function: name, file, line, column }: ShownFrame): string {
  const place = [file || 'an unnamed file', line, column].filter((part) => part !== undefined).join(':')
  return name === '' ? place : `${name} (${place})`
}
