import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** As its neighbour's, with partial prerendering: whatever waits for the request is a hole in a page that is kept. */
export default {
  compress: false,
  poweredByHeader: false,
  cacheComponents: true,
  outputFileTracingRoot: root,
  turbopack: { root },
}
