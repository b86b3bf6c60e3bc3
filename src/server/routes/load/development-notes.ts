/** What the development server says about loaders that work, and that a visitor will notice all the same. */
import { pageId } from '../../../client/react/route-view.ts'
import type { Route } from '../../../shared/route-table.ts'
import { findChangedValue } from '../../../shared/protocol/lost-values.ts'
import type { RequestContext } from '../../request/context.ts'
import type { Deferrable } from './deferred.ts'

const SLOW_MS = 500 // a visitor notices from here on

/** A segment whose loader is running. */
interface RunningSegment {
  readonly id: string
  readonly result: Promise<Deferrable>
}

/** Requests whose loaders are reported at their end. */
const noted = new WeakSet<RequestContext['record']>()

/**
 * Logs, for development, loaders that make their page slow, and values that are others in the browser than on the server.
 */
export function noteLoaders(segments: readonly RunningSegment[], route: Route, context: RequestContext): void {
  if (!noted.has(context.record)) context.onFinish(() => noteSlowLoaders(route, context))
  noted.add(context.record)
  for (const { id, result } of segments) {
    result.then(
      ({ value }) => noteChangedValues(id, value, context),
      () => undefined, // reported elsewhere
    )
  }
}

function noteSlowLoaders({ key, definition }: Route, { log, record }: RequestContext): void {
  const measured = record.spans.filter(({ op }) => op === 'loader')
  const loaders = measured.map(({ name: segment, startedAt, endedAt = startedAt }) => {
    const start = Math.round(startedAt - record.startedAt)
    const waits = segment === pageId(key) ? waitsForPage(definition, record.kind) : undefined
    return { segment, start, end: Math.round(endedAt - record.startedAt), ...(waits && { waits }) }
  })
  if (loaders.some(({ start, end, waits }) => end - start >= SLOW_MS && waits !== 'nobody'))
    log.warn({ loaders, route: record.route }, 'slow loaders')
}

/** Who waits for a page's own loader, as the development server tells it. A kept page cannot be early. */
function waitsForPage(
  { shell, cache }: Route['definition'],
  kind: string,
): 'nobody' | 'click' | 'document' | undefined {
  if (shell === 'early') return kind === 'document' ? 'nobody' : 'click'
  return kind === 'document' && cache !== 'shared' ? 'document' : undefined
}

function noteChangedValues(loader: string, value: unknown, context: RequestContext): void {
  const note = (member: unknown, path: string): void => {
    const changed = findChangedValue(member, path)
    if (changed !== undefined) context.log.warn({ loader, changed, route: context.record.route }, 'changed value')
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
