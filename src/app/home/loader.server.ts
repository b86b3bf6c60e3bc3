import { isbot } from 'isbot'
import { clientKey } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { exampleFiles } from './example-files.server.ts'
import { createLiveWaits } from './live-waits.server.ts'
import { createFigures } from './published-figures.server.ts'
import { RELEASE } from './release.server.ts'

const WAIT_MS = 1_000
const waits = createLiveWaits({ most: 16, mostOfOne: 2 })
const figures = createFigures('docs/performance.md', (error) => process.emitWarning(String(error)))

/** The last part of this page: when it was ready, or why it did not wait. */
export type Rest = { readonly ms: number } | { readonly without: 'crawler' | 'prefetch' | 'load' }

/** What the page shows. Its last part waits for a second, so that its own stream can be watched; the rest never does. */
export async function loader({ request, signal, context }: LoaderArgs<'/'>) {
  const startedAt = Date.now()
  const [published, example] = await Promise.all([figures(), exampleFiles()])
  const rest = beginRest(
    request.headers.get('user-agent'),
    () => {
      return waits.begin(clientKey(context.address), WAIT_MS, signal)
    },
    context.prefetch,
  )
  return { release: RELEASE, published, example, rest, startedAt: rest instanceof Promise ? startedAt : undefined }
}

/** Crawlers wait for the last byte of a page, and nobody watches a page that is loaded ahead. */
function beginRest(
  userAgent: string | null,
  begin: () => Promise<number> | undefined,
  isPrefetch: boolean,
): Rest | Promise<Rest> {
  if (isPrefetch) return { without: 'prefetch' }
  const isTerminal = userAgent?.startsWith('curl/') === true
  if (userAgent === null || (isbot(userAgent) && !isTerminal)) return { without: 'crawler' }
  return begin()?.then((ms) => ({ ms })) ?? { without: 'load' }
}
