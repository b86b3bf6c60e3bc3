import type { RequestContext } from '../../request/context.ts'
import { type FailurePlace } from '../../request/request-reporter.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { readOnce } from '../../http/read-once.ts'
import { isPlainJson, promisesIn } from '../../http/hear-promises.ts'

/**
 * Hears of all promises in what an author has returned, wherever they stand and whatever they bring: the answer may go out
 * without them, as for `HEAD`, behind another segment's refusal or in a redirect, and a rejection that nobody hears of ends
 * the process. Rejections are failures of the request, until it is aborted: from then on they follow from that.
 * @param place where it came from, for the log.
 * @returns the value to go on with: where a getter gives a promise it would give another one to each reader, so that one
 *   is a copy whose getters have been asked.
 */
export function watchPromises<Value>(value: Value, context: RequestContext, place: FailurePlace): Value {
  if (isPlainJson(value)) return value
  const seen = new Set<object>()
  const found = promisesIn(value, seen)
  if (!found.fromGetter) {
    watchAll(found.promises, context, place, seen)
    return value
  }
  for (const promise of found.promises) promise.catch(() => undefined)
  const read = readOnce(value) as Value
  const readSeen = new Set<object>()
  watchAll(promisesIn(read, readSeen).promises, context, place, readSeen)
  return read
}

/** @param seen objects that have been looked at: what a promise brings may hold that promise, and would go round for ever. */
function watchAll(
  promises: readonly Promise<unknown>[],
  context: RequestContext,
  place: FailurePlace,
  seen: Set<object>,
): void {
  for (const promise of promises) {
    promise.then(
      (brought) => {
        if (!isPlainJson(brought)) watchAll(promisesIn(brought, seen).promises, context, place, seen)
      },
      (reason: unknown) => {
        if (context.aborted === undefined) reportFailure(reason, context, place)
      },
    )
  }
}
