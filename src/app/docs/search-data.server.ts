import { handbook } from './handbook.server.ts'

const FRESH_SECONDS = 300 // the dialog of an open page may lag behind a saved chapter for this long

/** All sections, for the index that the search dialog builds in the browser. */
export async function GET(): Promise<Response> {
  const { json } = await handbook.search()
  return new Response(json, {
    headers: { 'Content-Type': 'application/json', 'Cache-Control': `public, max-age=${FRESH_SECONDS}` },
  })
}
