import { cacheLife } from 'next/cache'
import { loadRows } from '../rows.server.js'

/** Rows that are made once, and kept with the page. */
export async function keptRows() {
  'use cache'
  cacheLife('max')
  return loadRows(1000)
}
