import { withBasePath } from 'millrace'
import type { LoaderArgs } from 'millrace/server'

/**
 * Lets crawlers in, except where requests cost time on purpose. Caches may share it, so it contains no `Host` that a visitor
 * has made up.
 */
export function GET({ context }: LoaderArgs<'/robots.txt'>): Response {
  const { origin = '' } = context
  const lines = [
    'User-agent: *',
    'Disallow: /lab/bench/',
    'Disallow: /lab/events',
    'Disallow: /lab/slow/',
    `Sitemap: ${origin}${withBasePath('/sitemap.xml')}`,
  ]
  return new Response(`${lines.join('\n')}\n`, {
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=3600' },
  })
}
