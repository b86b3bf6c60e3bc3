import { useSyncExternalStore } from 'react'
import { Link } from '#client'
import type { ErrorProps } from '#client'

export const metadata = { title: 'Application error' }

const ON_THE_SERVER = 'Something failed on our side. The log knows this failure by its digest.'
const IN_THE_BROWSER = 'Something failed in this browser tab. What you typed elsewhere is untouched.'
const TOO_LARGE = 'What you sent is larger than this page takes. Nothing of it was kept.'

const neverChanges = () => () => undefined
const inBrowser = () => true
const onServer = () => false

/** The page in the place of one that failed. The digest is all that is told: the log has the rest under it. */
export default function ErrorFallback({ origin, digest, retry, status }: ErrorProps) {
  const isAlive = useSyncExternalStore(neverChanges, inBrowser, onServer)
  return (
    <div className="fallback">
      {origin === 'server' ? (
        <p className="fallback-status" aria-hidden="true">
          500
        </p>
      ) : null}
      <h1 data-testid="error">{`Application error: a ${origin}-side exception has occurred`}</h1>
      {digest === undefined ? null : <p data-testid="digest">{`Digest: ${digest}`}</p>}
      <p>{status === 413 ? TOO_LARGE : origin === 'server' ? ON_THE_SERVER : IN_THE_BROWSER}</p>
      <p>
        {isAlive ? (
          <button type="button" onClick={retry}>
            Try again
          </button>
        ) : (
          // Where no script runs, its empty address loads the page again.
          <Link href="">Try again</Link>
        )}{' '}
        <Link href="/">Home</Link>
      </p>
    </div>
  )
}
