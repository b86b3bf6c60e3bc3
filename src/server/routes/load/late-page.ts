import type { LateFacts } from '../../../shared/protocol/hydration-data.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { RequestContext } from '../../request/context.ts'
import { lateSessions } from '../../request/noted-sessions.ts'
import { refuseLostValues } from './lost-value-error.ts'
import type { StartedSegment } from './start-loaders.ts'

/** A page whose loader still runs when its shell is sent (`shell: 'early'`). */
export interface LatePage {
  /** What its loader returns. Never an unhandled rejection. */
  readonly data: Promise<unknown>
  /** What is known when the loader is done. Rejects as `data`. */
  readonly facts: Promise<LateFacts>
}

/** Whether a loader waits for something outside of this process: otherwise a shell before its result would win nothing. */
export function isPending(result: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const settled = (): void => resolve(false)
    result.then(settled, settled)
    setImmediate(resolve, true)
  })
}

/** Hands the result of a page's loader over as a promise. Its failure is logged and reported, its data checked, as if awaited. */
export function latePage({ id, result, facts }: StartedSegment, context: RequestContext): LatePage {
  const data = result.then(({ value }) => {
    refuseLostValues({ [id]: value })
    return value
  })
  data.catch((thrown: unknown) => reportFailure(thrown, context, 'loader', id))
  const known = data.then(async (value): Promise<LateFacts> => {
    const { sessions } = (await lateSessions([value], context)) ?? { sessions: context.audience.sessions?.marks }
    // The browser cannot tell from the head which search params it depends on.
    return { meta: { ...facts.meta(context), uses: true }, sessions }
  })
  known.catch(() => undefined)
  return { data, facts: known }
}
