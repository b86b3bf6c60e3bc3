import { useState, useTransition } from 'react'
import styles from './answer-head.module.css'

/** The head of an answer, as scripts may read it. */
interface Head {
  /** Path and query. */
  readonly target: string
  readonly status: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/**
 * The head of this page's document on request. No browser shows `Set-Cookie` to a script, and the server is asked for
 * nothing that the visitor has not got already: the stored answer counts however old it is.
 */
export function AnswerHead() {
  const [head, setHead] = useState<Head | 'failed'>()
  const [isPending, startTransition] = useTransition()
  return (
    <section className={styles['answer']}>
      <h2>The answer&apos;s head</h2>
      <div className={styles['scripted']}>
        <button
          type="button"
          aria-disabled={isPending}
          onClick={() => {
            if (!isPending) startTransition(async () => setHead(await readHead(location)))
          }}
        >
          Show the head
        </button>
      </div>
      <p className={styles['hint']}>
        <span className={styles['scripted']}>
          The document as your browser stored it; a new request if it stored none.{' '}
        </span>
        In a terminal: <code>curl -I</code> and this page&apos;s address.
      </p>
      <div aria-live="polite">
        {head === undefined ? null : head === 'failed' ? <p>The server did not answer.</p> : <HeadLines head={head} />}
      </div>
    </section>
  )
}

function HeadLines({ head: { target, status, headers } }: { readonly head: Head }) {
  return (
    <>
      <p className={styles['lines']}>
        <code>{`GET ${target}`}</code> <strong data-testid="head-status">{status}</strong>
      </p>
      <dl className={styles['lines']} data-testid="head-fields">
        {headers.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

async function readHead({ origin, pathname, search }: Location): Promise<Head | 'failed'> {
  const target = pathname + search
  try {
    const response = await fetch(origin + target, { cache: 'force-cache', headers: { Accept: 'text/html' } })
    // The body is on the screen.
    void response.body?.cancel()
    const headers = Array.from(response.headers, ([name, value]) => [name, withoutNonce(value)] as const)
    return { target, status: `${response.status} ${response.statusText}`.trim(), headers }
  } catch {
    return 'failed'
  }
}

/** Browsers hide nonces from a page's markup. */
function withoutNonce(value: string): string {
  return value.replaceAll(/\bnonce(?<mark>-|=")[\w+/=-]+/g, 'nonce$<mark>…')
}
