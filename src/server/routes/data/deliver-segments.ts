import type { SegmentMeta, SegmentValues } from '../../../shared/protocol/route-data.ts'
import type { SegmentEntry } from '../../../shared/route-table.ts'
import type { Deferrable } from '../load/deferred.ts'
import { holdsPromise } from '../../values/find-promises.ts'
import { refuseLostValues } from '../load/lost-value-error.ts'
import { stoppedBy, type RunningLoaders, type StartedSegment } from '../load/start-loaders.ts'
import { endWithAnswer, redirectTo, replacementOf, type ShownFallback, type Stopped } from '../decide/stopped.ts'
import { judgeThrown, retryHeaders } from '../../request/answer/judge-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import { DataAnswer, type Head } from './data-answer.ts'

/** A page's data while its loaders run. */
export interface RunningPage {
  readonly head: Head
  readonly chain: readonly SegmentEntry[]
  /** Ids of the segments whose records are sent. */
  readonly wanted: ReadonlySet<string>
  readonly loaders: RunningLoaders
  /** Decides status and head first; by default the first record does. */
  readonly opening?: ((answer: DataAnswer, head: Head) => void) | undefined
  /** Set if no route answers the URL: the fallback to show once all loaders have succeeded. */
  readonly missing?: ShownFallback | undefined
}

/** The state of a segment that inner segments depend on. */
interface Outside {
  readonly guards: boolean
  /** Whether its loader has succeeded; by then its record is written. */
  readonly succeeded: Promise<boolean>
}

const NO_META: SegmentMeta = {}

/**
 * Sends the segments as their loaders finish. A record waits for the guards outside it, a refusal or failure for
 * everything outside it: so the outermost one counts, as in the document.
 * @returns resolves when the answer is over.
 */
export async function deliverSegments(page: RunningPage, context: RequestContext): Promise<void> {
  const { missing } = page
  const { segments } = page.loaders
  const refused = segments.at(-1)?.isGuard === true ? await guardStatus(segments) : undefined
  const status = refused ?? missing?.status ?? 200
  let pending = segments.length
  let deferred = false
  let stopped = false
  const returned: unknown[] = []
  const isWhole = (): boolean => pending === 0 && !deferred && !stopped && !returned.some(holdsPromise)
  const answer = new DataAnswer(context, isWhole)
  page.opening?.(answer, page.head)

  async function deliver(segment: StartedSegment, outside: readonly Outside[]): Promise<boolean> {
    try {
      const result = await segment.result
      pending -= 1
      deferred ||= result.deferred
      returned.push(result.value)
      if (!page.wanted.has(segment.id)) return true
      if (!(await haveSucceeded(outside.filter(({ guards }) => guards))) || stopped) return true
      const values = valuesOf(segment, result)
      if (!answer.isOpen()) answer.open(status, page.head)
      answer.segment(segment.id, values, segment.facts.meta(context) ?? NO_META, () => segment.facts.isLate)
      return true
    } catch (thrown) {
      if (!(await haveSucceeded(outside))) return false
      stopped = true
      sendStopped(stoppedBy(thrown, segment, page.chain), page, answer, context)
      return false
    }
  }

  const started: Outside[] = []
  for (const segment of segments) {
    started.push({ guards: segment.guards, succeeded: deliver(segment, started.slice()) })
  }
  // The answer ends here: inner loaders may still be running, and nobody waits for them.
  const succeeded = await haveSucceeded(started)
  if (context.aborted?.cause === 'gone') return
  if (!answer.isOpen()) answer.open(status, page.head)
  if (succeeded && missing !== undefined) sendFallback(missing, answer)
  await answer.finish()
}

/**
 * The status after a guard's refusal. It is known before the loaders outside start, so that their records need not go first.
 * @returns `undefined` for a redirect.
 */
async function guardStatus(segments: readonly StartedSegment[]): Promise<number | undefined> {
  const settled = await Promise.allSettled(segments.map(({ result }) => result))
  const outermost = settled.find((one) => one.status === 'rejected')
  const judged = judgeThrown(outermost?.reason)
  return judged.kind === 'redirect' ? undefined : judged.status
}

async function haveSucceeded(segments: readonly Outside[]): Promise<boolean> {
  for (const { succeeded } of segments) if (!(await succeeded)) return false
  return true
}

/** @throws {LostValueError} outside production, for values that would not arrive unchanged. */
function valuesOf({ id, search }: StartedSegment, { value }: Deferrable): SegmentValues {
  refuseLostValues({ [id]: value })
  return {
    ...(value === undefined ? {} : { data: value }),
    ...(search === undefined ? {} : { search: search.value }),
  }
}

/** Sends the replacement for the page. */
export function sendStopped(
  stopped: Stopped,
  { head, chain }: Pick<RunningPage, 'head' | 'chain'>,
  answer: DataAnswer,
  context: RequestContext,
): void {
  if (context.aborted?.cause === 'gone') return
  endWithAnswer(context)
  const replaced = replacementOf(stopped, chain, context)
  if (replaced.kind === 'redirect') {
    const redirect = redirectTo(replaced.location)
    if (answer.isOpen()) answer.redirect(redirect)
    else answer.open(200, { redirect })
    return
  }
  const { status, at } = replaced
  if (!answer.isOpen()) answer.open(status, at === undefined ? { document: true } : head, retryHeaders(replaced))
  else {
    if (context.data !== undefined) context.data.lateStatus = status
    if (at === undefined) answer.breakOff()
  }
  sendFallback(replaced, answer)
}

function sendFallback({ boundary, at, digest }: ShownFallback, answer: DataAnswer): void {
  if (at !== undefined) answer.outcome({ kind: boundary, at, ...(digest === undefined ? {} : { digest }) })
}
