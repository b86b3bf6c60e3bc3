import type { PageProps } from 'millrace'
import styles from './stack.module.css'

type Details = PageProps<'/lab/reports/[id]', typeof import('./details.server.ts')>['data']
type Exception = Details['event']['exceptions'][number]

/** Props of `Stack`. */
export interface StackProps {
  readonly heading: string
  readonly exception: Exception
}

/** What was thrown and where, the innermost call first. Code that is not the application's own is less prominent. */
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

function textOf({ function: name, file, line, column }: Exception['frames'][number]): string {
  const place = [file || 'an unnamed file', line, column].filter((part) => part !== undefined).join(':')
  return name === '' ? place : `${name} (${place})`
}
