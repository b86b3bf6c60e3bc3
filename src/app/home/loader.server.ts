import { isbot } from 'isbot'
import { clientKey } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { exampleFiles } from './example-files.server.ts'
import { createLiveWaits } from './live-waits.server.ts'
import { createFigures } from './published-figures.server.ts'
import { RELEASE } from './release.server.ts'

const WAIT_MS = 1_000
const waits = createLiveWaits({ most: 16, mostOfOne: 2 })
const figures = createFigures('docs/performance.md')

/** The last part of this page: when it was ready, or why it did not wait. */
export type Rest = { readonly ms: number } | { readonly without: 'crawler' | 'prefetch' | 'load' }

/** The data of the page. Its last part waits for a second, so that visitors can watch the stream; the rest never waits. */
export async function loader({ request, signal, context }: LoaderArgs<'/'>) {
  const startedAt = Date.now()
  const [published, example] = await Promise.all([
    figures().catch((error: unknown) => {
      context.log.error({ error }, 'the home page has no figures')
      return undefined
    }),
    exampleFiles(),
  ])
  const without = reasonNotToWait(request.headers.get('user-agent'), context.prefetch)
  const waiting = without === undefined ? waits.begin(clientKey(context.address), WAIT_MS, signal) : undefined
  const rest: Rest | Promise<Rest> = waiting?.then((ms) => ({ ms })) ?? { without: without ?? 'load' }
  return { release: RELEASE, published, example, rest, startedAt: waiting === undefined ? undefined : startedAt }
}

/** Crawlers wait for the last byte of a page, and nobody watches a prefetched page. */
function reasonNotToWait(userAgent: string | null, isPrefetch: boolean): 'crawler' | 'prefetch' | undefined {
  if (userAgent === null) return 'crawler'
  if (isPrefetch) return 'prefetch'
  const isTerminal = userAgent.startsWith('curl/')
  return isbot(userAgent) && !isTerminal ? 'crawler' : undefined
}
