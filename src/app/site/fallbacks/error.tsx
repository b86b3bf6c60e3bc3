import { useSyncExternalStore } from 'react'
import { Link } from 'millrace'
import type { ErrorProps } from 'millrace'

/** Titles by status, where the application did not fail. */
const TITLES: Readonly<Record<number, string>> = {
  401: 'Refused',
  403: 'Refused',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Not available',
}

/** If only the network failed, the title does not blame the application. */
export const metadata = ({ reason, status = 500 }: Partial<ErrorProps>) => ({
  title: reason === 'offline' ? 'Not arrived' : (TITLES[status] ?? 'Application error'),
})

const neverChanges = () => () => undefined
const inBrowser = () => true
const onServer = () => false

/** What has happened, and what the visitor can do. */
function wordsFor({ origin, reason, status, digest }: ErrorProps): { readonly title: string; readonly text: string } {
  const exception = `Application error: a ${origin}-side exception has occurred`
  if (reason === 'crash') {
    return {
      title: exception,
      text: 'This page failed in your browser. The button starts it again.',
    }
  }
  if (reason === 'offline') {
    return {
      title: 'This page has not arrived',
      text: 'Your browser has no network, or cannot reach this site. Check the connection.',
    }
  }
  if (status === 413) {
    return {
      title: 'Too large',
      text: 'You sent more than this page accepts. Nothing was kept. Send a smaller file or a shorter text.',
    }
  }
  if (status === 429) {
    return {
      title: 'Too many requests',
      text: 'You sent more requests than one visitor may. Wait a minute before the next one.',
    }
  }
  // A proxy between browser and site has answered: the site itself may say something else.
  if (status === 401 || status === 403) {
    return {
      title: 'Refused',
      text: 'Something between your browser and this site refused the request. Load the page again to see why.',
    }
  }
  const isFailure = (status === undefined || status === 500) && digest !== undefined
  return {
    title: status === 503 && origin === 'client' ? 'Too busy' : exception,
    text: isFailure
      ? 'This is our fault. If it happens twice, tell us the digest: it leads to the failure in our log.'
      : 'This page is not available right now. It may be back in a minute.',
  }
}

/** Replaces a page that failed or did not arrive. It shows the digest and nothing else of a failure: the log has the rest. */
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
