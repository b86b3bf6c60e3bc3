import type { PageProps } from 'millrace'
import styles from './stack.module.css'

type Details = PageProps<'/lab/reports/[id]', typeof import('./details.server.ts')>['data']
type Exception = Details['event']['exceptions'][number]

/** Props of `Stack`. */
export interface StackProps {
  readonly heading: string
  readonly exception: Exception
  /** What the page says already. */
  readonly title: string
}

const LONG_MESSAGE = 400 // characters, or
const MANY_LINES = 6

/** What was thrown and where, the innermost call first. If some of it is the application's own code, the rest is folded. */
export function Stack({ heading, exception, title }: StackProps) {
  const { type, value, frames } = exception
  const own = frames.filter(({ inApp }) => inApp)
  const message = [type, value].filter((part) => part !== '').join(': ')
  const shown = own.length === 0 ? frames : own
  return (
    <section className={styles['stack']}>
      <h2>{heading}</h2>
      {message === title ? null : <Message text={message} />}
      {frames.length === 0 ? (
        <p className={styles['note']}>The report has no stack.</p>
      ) : (
        <Frames testId="report-frames" frames={shown} />
      )}
      {shown.length === frames.length ? null : (
        <details className={styles['folded']}>
          <summary>{`All ${frames.length} frames, ${frames.length - own.length} of packages and Node included`}</summary>
          <Frames testId="report-all-frames" frames={frames} />
        </details>
      )}
    </section>
  )
}

/** Long messages are folded. */
function Message({ text }: { readonly text: string }) {
  const lines = text.split('\n')
  if (text.length <= LONG_MESSAGE && lines.length <= MANY_LINES)
    return (
      <p className={styles['message']}>
        <bdi>{text}</bdi>
      </p>
    )
  return (
    <details className={styles['folded']}>
      <summary className={styles['message']}>
        <bdi>{`${lines.slice(0, MANY_LINES).join('\n').slice(0, LONG_MESSAGE).toWellFormed()}…`}</bdi>
      </summary>
      <p className={styles['message']}>
        <bdi>{text}</bdi>
      </p>
    </details>
  )
}

function Frames({ testId, frames }: { readonly testId: string; readonly frames: Exception['frames'] }) {
  return (
    <ol data-testid={testId} className={styles['frames']}>
      {frames.map((frame, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- frames have no name, and their order never changes
        <li key={at} data-own={frame.inApp ? '' : undefined}>
          <code>
            <bdi>{textOf(frame)}</bdi>
          </code>
        </li>
      ))}
    </ol>
  )
}

function textOf({ function: name, file, line, column }: Exception['frames'][number]): string {
  const place = [file || 'an unnamed file', line, column].filter((part) => part !== undefined).join(':')
  return name === '' ? place : `${name} (${place})`
}
