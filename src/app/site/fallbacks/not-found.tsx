import { ClientOnly, external, href, Link, useLocation } from 'millrace'
import { ADDRESSES } from '../addresses.ts'
import { nearMatches } from '../near-matches.ts'
import { Fallback } from './fallback.tsx'

export const metadata = { title: 'Not found' }

const LONGEST_QUERY = 80 // as much as the search reads, and more than an address that somebody has typed

/** The fallback of `notFound()`, with the addresses that may have been meant. */
export default function NotFound() {
  // An exported site has one such page for all addresses, so hydration cannot begin with what depends on them.
  const more = (
    <ClientOnly
      fallback={
        <noscript>
          <WaysOn />
        </noscript>
      }
    >
      {() => <WaysOn />}
    </ClientOnly>
  )
  return (
    <Fallback status="404" title="Not found" more={more}>
      There is no page at this address. Check the spelling.
    </Fallback>
  )
}

function WaysOn() {
  const { pathname } = useLocation()
  const near = nearMatches(pathname, ADDRESSES)
  const words = pathname
    .slice(0, LONGEST_QUERY)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/^ ?(?:docs|lab)\b/, '')
    .trim()
  return (
    <>
      {near.length === 0 ? null : (
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
      )}
      {words !== '' && (
        <p>
          <Link href={href('/docs/search', undefined, { q: words })}>Search the handbook for “{words}”</Link>
        </p>
      )}
    </>
  )
}
