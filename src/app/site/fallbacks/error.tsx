import { useSyncExternalStore } from 'react'
import { Link } from 'millrace'
import type { ErrorProps } from 'millrace'

/** Titles of what is no failure of the application, by status. */
const TITLES: Readonly<Record<number, string>> = {
  401: 'Refused',
  403: 'Refused',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Not available',
}

/** Where nothing has failed but the network, the title does not say otherwise. */
export const metadata = ({ reason, status = 500 }: Partial<ErrorProps>) => ({
  title: reason === 'offline' ? 'Not arrived' : (TITLES[status] ?? 'Application error'),
})

const neverChanges = () => () => undefined
const inBrowser = () => true
const onServer = () => false

/** What a visitor is told: what has happened, and whose matter it is. */
function wordsFor({ origin, reason, status, digest }: ErrorProps): { readonly title: string; readonly text: string } {
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
  // Where something between browser and site has answered in its place, nothing is known of what the site would say.
  if (status === 401 || status === 403) {
    return { title: 'Refused', text: 'What you asked for was refused on the way. Load the page again: it may say why.' }
  }
  const isFailure = (status === undefined || status === 500) && digest !== undefined
  return {
    title: status === 503 && origin === 'client' ? 'Too busy' : exception,
    text: isFailure
      ? 'Something failed on our side. The log knows this failure by its digest.'
      : 'This is not available right now. It may be in a moment.',
  }
}

/** The page in the place of one that failed or did not come. The digest is all that is told: the log has the rest under it. */
export default function ErrorFallback(props: ErrorProps) {
  const { origin, reason, digest, retry } = props
  // Behind the shell a failure of the server has no status any more.
  const status = props.status ?? (origin === 'server' ? 500 : undefined)
  const isAlive = useSyncExternalStore(neverChanges, inBrowser, onServer)
  const { title, text } = wordsFor(props)
  return (
    <div className="fallback">
      {reason === 'server' && status !== undefined ? (
        <p className="fallback-status" aria-hidden="true">
          {status}
        </p>
      ) : null}
      <h1 data-testid="error">{title}</h1>
      {digest === undefined ? null : <p data-testid="digest">{`Digest: ${digest}`}</p>}
      <p>{text}</p>
      <p className="fallback-ways">
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
