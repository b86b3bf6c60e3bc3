import { useState } from 'react'
import createCache from '@emotion/cache'
import { CacheProvider } from '@emotion/react'
import { useNonce, useServerInsertedHTML, type LayoutProps } from 'millrace'

/** A cache for each document on the server, and one in the browser. */
export default function StyleCache({ children }: LayoutProps<'/emotion'>) {
  const nonce = useNonce()
  const [cache] = useState(() => {
    const cache = createCache({ key: 'css', ...(nonce !== undefined && { nonce }) })
    cache.compat = true // on the server, keeps rules here instead of writing them beside each element
    return cache
  })
  const [sent] = useState(() => new Set<string>())
  useServerInsertedHTML(() => {
    const fresh = Object.entries(cache.inserted).filter(([name]) => !sent.has(name))
    if (fresh.length === 0) return null
    const names = fresh.map(([name]) => name)
    for (const name of names) sent.add(name)
    const rules = fresh.map(([, rule]) => rule).join('')
    return (
      <style data-emotion={`css ${names.join(' ')}`} nonce={nonce}>
        {rules}
      </style>
    )
  })
  return <CacheProvider value={cache}>{children}</CacheProvider>
}
