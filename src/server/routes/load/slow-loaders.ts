import type { LoaderTiming } from '../../request/answer/answer-headers.ts'
import type { RequestContext } from '../../request/context.ts'

const SLOW_MS = 500 // a visitor notices from here on

/**
 * Logs all loaders of a request once its answer is over, if one of them was slow. For development only.
 * @param timings filled as loaders finish.
 */
export function noteSlowLoaders(timings: readonly LoaderTiming[], context: RequestContext): void {
  context.onFinish(() => {
    if (!timings.some(({ milliseconds }) => milliseconds >= SLOW_MS)) return
    const loaders = timings.map(({ segment, started, milliseconds }) => {
      const start = started - context.startedAt
      return { segment, start: Math.round(start), end: Math.round(start + milliseconds) }
    })
    context.log.warn({ loaders, route: context.route }, 'slow loaders')
  })
}
