import { useSyncExternalStore } from 'react'
import { external, href, Link, useLocation } from 'millrace'
import { ADDRESSES } from '../addresses.ts'
import { nearMatches } from '../near-matches.ts'
import { Fallback } from './fallback.tsx'

export const metadata = { title: 'Not found' }

const LONGEST_QUERY = 80 // as much as the search reads, and more than an address that somebody has typed
const EXPORTED = /^\/(?:\.|%2e)\// // the path for which `millrace export` makes the page of all missing ones

/** The fallback of `notFound()`, with the addresses that may have been meant. */
export default function NotFound() {
  const path = useMissingPath()
  const near = nearMatches(path, ADDRESSES)
  const words = path
    .slice(0, LONGEST_QUERY)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/^ ?(?:docs|lab)\b/, '')
    .trim()
  return (
    <Fallback
      status="404"
      title="Not found"
      more={
        near.length === 0 ? null : (
          <nav aria-labelledby="near" className="fallback-near">
            <h2 id="near">Did you mean</h2>
            <ul>
              {near.map((address) => (
                <li key={address}>
                  <Link href={external(address)} prefetch="none">
                    {address}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        )
      }
    >
      <span id={MISSING} data-path={path}>
        There is no page at this address. Check the spelling
      </span>
      {words === '' ? (
        '.'
      ) : (
        <>
          , or <Link href={href('/docs/search', undefined, { q: words })}>search the handbook for “{words}”</Link>.
        </>
      )}
    </Fallback>
  )
}

const MISSING = 'missing'

/** The path that is missing. In an exported site one document is for all: hydration begins with the path that it was made for. */
function useMissingPath(): string {
  const { pathname } = useLocation()
  const path = EXPORTED.test(pathname) ? '' : pathname
  return useSyncExternalStore(
    neverChanges,
    () => path,
    () => (typeof document === 'undefined' ? path : (document.getElementById(MISSING)?.dataset['path'] ?? path)),
  )
}

const neverChanges = () => () => undefined
