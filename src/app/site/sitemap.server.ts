import { withBasePath } from 'millrace'
import type { LoaderArgs } from 'millrace/server'
import { escapeMarkup } from './escape-markup.server.ts'
import { publicOrigin } from './public-origin.server.ts'
import { handbook } from '../docs/handbook.server.ts'

/** Home, the lab's overview and each chapter of the handbook. */
export async function GET({ request, context }: LoaderArgs<'/sitemap.xml'>): Promise<Response> {
  const { origin, caching } = publicOrigin(request, context, 3600)
  const chapters = await handbook.chapters()
  const paths = ['/', '/lab', ...chapters.map((chapter) => chapter.path)]
  const entries = paths.map((path) => `  <url><loc>${escapeMarkup(origin + withBasePath(path))}</loc></url>\n`)
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join('')}</urlset>
`
  return new Response(body, {
    headers: { 'Content-Type': 'application/xml; charset=utf-8', 'Cache-Control': caching },
  })
}
