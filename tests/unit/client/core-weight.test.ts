import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const source = fileURLToPath(new URL('../../../src/', import.meta.url))

// The router's share of the first load that is only decisions: a fifth of what the whole router may take.
const LIMIT_BYTES = 1950

const TABLE = `
  import { createRouteTable } from './shared/route-table.ts'
  import { href } from './shared/href.ts'
  use(createRouteTable, href)
`
const DECISIONS = `
  import { IDLE, reduceNavigation } from './client/core/navigation.ts'
  import { EMPTY_CACHE, entryState, matchesTarget, reduceRouteCache } from './client/core/route-cache.ts'
  import { advancePrefetching, nextWake, NO_PREFETCHES, reducePrefetching } from './client/core/prefetch-scheduler.ts'
  import { parseRetryAfter, retryDelay } from './client/core/retry.ts'
  import { segmentKey } from './client/core/segment-key.ts'
  use(IDLE, reduceNavigation, EMPTY_CACHE, entryState, matchesTarget, reduceRouteCache)
  use(advancePrefetching, nextWake, NO_PREFETCHES, reducePrefetching, parseRetryAfter, retryDelay, segmentKey)
`

async function weightOf(contents: string): Promise<number> {
  const options = { bundle: true, minify: true, format: 'esm', target: 'es2022', write: false } as const
  const result = await build({ ...options, stdin: { contents, resolveDir: source } })
  return gzipSync(result.outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).byteLength
}

test('all decisions of the router add less than 2 kB to a page that has its route table', async () => {
  expect((await weightOf(TABLE + DECISIONS)) - (await weightOf(TABLE))).toBeLessThan(LIMIT_BYTES)
})
