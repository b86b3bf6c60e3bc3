import { withBasePath } from 'millrace'
import type { LoaderArgs } from 'millrace/server'
import { LAB_GROUPS } from '../catalogue.ts'
import { publicOrigin } from '../../site/public-origin.server.ts'

/** The lab as a JSON Feed 1.1 (jsonfeed.org): one item a page. */
export function GET({ request, context }: LoaderArgs<'/lab/feed.json'>): Response {
  const { origin, caching } = publicOrigin(request, context, 300)
  const feed = {
    version: 'https://jsonfeed.org/version/1.1',
    title: 'Millrace lab',
    home_page_url: origin + withBasePath('/lab'),
    feed_url: origin + withBasePath('/lab/feed.json'),
    items: LAB_GROUPS.flatMap(({ title: group, entries }) =>
      entries.map(({ href, title, look }) => ({
        id: origin + withBasePath(href),
        url: origin + withBasePath(href),
        title,
        content_text: look,
        tags: [group],
      })),
    ),
  }
  return Response.json(feed, {
    headers: { 'Content-Type': 'application/feed+json; charset=utf-8', 'Cache-Control': caching },
  })
}
