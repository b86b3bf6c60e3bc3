import type { RequestContext } from '../../request/context.ts'
import { type FailurePlace } from '../../request/request-reporter.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { readOnce } from '../../values/read-once.ts'
import { isPlainJson, promisesIn } from '../../values/find-promises.ts'

/**
 * Handles the rejections of all promises in an author's value, however deep: the answer may be sent without them, for
 * `HEAD`, after another segment's refusal or in a redirect, and an unhandled rejection ends the process. Until the
 * request is aborted, rejections are failures of the request; after that they follow from the abort. Each counts as the
 * request's work until it settles.
 * @param place where the value was returned, for the log.
 * @returns the value to use from here: a getter could return a new promise for each read, so then it is a copy with the
 * getters resolved.
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

/** @param seen visited objects: a promise may resolve to an object that contains it. */
function watchAll(
  promises: readonly Promise<unknown>[],
  context: RequestContext,
  place: FailurePlace,
  seen: Set<object>,
): void {
  const { work } = context
  for (const promise of promises) {
    work.begin()
    promise.then(
      (brought) => {
        if (!isPlainJson(brought)) watchAll(promisesIn(brought, seen).promises, context, place, seen)
        work.end()
      },
      (reason: unknown) => {
        work.end()
        if (context.aborted === undefined) reportFailure(reason, context, place)
      },
    )
  }
}
