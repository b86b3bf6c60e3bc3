import { useSyncExternalStore } from 'react'
import { Link } from '#client'
import type { ErrorProps } from '#client'

/** Where nothing has failed but the network, the title does not say otherwise. */
export const metadata = ({ reason }: Partial<ErrorProps>) => ({
  title: reason === 'offline' ? 'Not arrived' : 'Application error',
})

const neverChanges = () => () => undefined
const inBrowser = () => true
const onServer = () => false

/** What a visitor is told: what has happened, and whose matter it is. */
function wordsFor({ origin, reason, status }: ErrorProps): { readonly title: string; readonly text: string } {
  const exception = `Application error: a ${origin}-side exception has occurred`
  if (reason === 'crash') {
    return { title: exception, text: 'Something failed in this browser tab. What you typed elsewhere is untouched.' }
  }
  if (reason === 'offline') {
    return {
      title: 'This page has not arrived',
      text: 'There is no network, or the site cannot be reached right now. Nothing has failed here: try again when you are connected.',
    }
  }
  if (status === 413) {
    return { title: 'Too large', text: 'What you sent is larger than this page takes. Nothing of it was kept.' }
  }
  if (status === 429) {
    return { title: 'Too many requests', text: 'That was more than we take from one visitor at a time. Wait a moment.' }
  }
  const isKnown = status === undefined || status === 500
  return {
    title: status === 503 && origin === 'client' ? 'Too busy' : exception,
    text: isKnown
      ? 'Something failed on our side. The log knows this failure by its digest.'
      : 'This is not available right now. It may be in a moment.',
  }
}

/** The page in the place of one that failed or did not come. The digest is all that is told: the log has the rest under it. */
export default function ErrorFallback(props: ErrorProps) {
  const { reason, digest, retry, status = 500 } = props
  const isAlive = useSyncExternalStore(neverChanges, inBrowser, onServer)
  const { title, text } = wordsFor(props)
  return (
    <div className="fallback">
      {reason === 'server' ? (
        <p className="fallback-status" aria-hidden="true">
          {status}
        </p>
      ) : null}
      <h1 data-testid="error">{title}</h1>
      {digest === undefined ? null : <p data-testid="digest">{`Digest: ${digest}`}</p>}
      <p>{text}</p>
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
