/** What the development server says about loaders that work, and that a visitor will notice all the same. */
import { findChangedValue } from '../../../shared/protocol/lost-values.ts'
import type { LoaderTiming } from '../../request/answer/answer-headers.ts'
import type { RequestContext } from '../../request/context.ts'
import type { Deferrable } from './deferred.ts'

const SLOW_MS = 500 // a visitor notices from here on

/** A segment whose loader is running. */
interface RunningSegment {
  readonly id: string
  readonly result: Promise<Deferrable>
}

/**
 * Logs, for development, loaders that make their page slow, and values that are others in the browser than on the server.
 * @param timings filled as loaders finish.
 */
export function noteLoaders(
  segments: readonly RunningSegment[],
  timings: readonly LoaderTiming[],
  context: RequestContext,
): void {
  context.onFinish(() => noteSlowLoaders(timings, context))
  for (const { id, result } of segments) {
    result.then(
      ({ value }) => noteChangedValues(id, value, context),
      () => undefined, // reported elsewhere
    )
  }
}

function noteSlowLoaders(timings: readonly LoaderTiming[], context: RequestContext): void {
  if (!timings.some(({ milliseconds }) => milliseconds >= SLOW_MS)) return
  const loaders = timings.map(({ segment, started, milliseconds }) => {
    const start = started - context.startedAt
    return { segment, start: Math.round(start), end: Math.round(start + milliseconds) }
  })
  context.log.warn({ loaders, route: context.route }, 'slow loaders')
}

function noteChangedValues(loader: string, value: unknown, context: RequestContext): void {
  const note = (member: unknown, path: string): void => {
    const changed = findChangedValue(member, path)
    if (changed !== undefined) context.log.warn({ loader, changed, route: context.route }, 'changed value')
  }
  note(value, '')
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (!(member instanceof Promise)) continue
    member.then(
      (later: unknown) => note(later, `.${key}`),
      () => undefined, // reported elsewhere
    )
  }
}
