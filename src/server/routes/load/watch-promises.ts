import { types } from 'node:util'
import { isJsonValue } from '../../../shared/protocol/hand-off.ts'
import type { RequestContext } from '../../request/context.ts'
import { type FailurePlace } from '../../request/request-reporter.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { readOnce } from './read-once.ts'

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

/**
 * Hears of all promises in a value without a word: it is refused, or somebody else tells of them.
 * @returns as `watchPromises`.
 */
export function hearPromises<Value>(value: Value): Value {
  if (isPlainJson(value)) return value
  const found = promisesIn(value, new Set())
  for (const promise of found.promises) promise.catch(() => undefined)
  if (!found.fromGetter) return value
  const read = readOnce(value) as Value
  for (const promise of promisesIn(read, new Set()).promises) promise.catch(() => undefined)
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

/** Nearly always; it makes no list of what it has seen. */
function isPlainJson(value: unknown): boolean {
  try {
    return isJsonValue(value, 0, hearPromises)
  } catch {
    return false // whoever sends the value meets the getter too, and tells of it
  }
}

interface FoundPromises {
  readonly promises: readonly Promise<unknown>[]
  /** Whether a getter has made one of them, or what it is in, for this look alone. */
  readonly fromGetter: boolean
}

function promisesIn(value: unknown, seen: Set<object>): FoundPromises {
  const promises: Promise<unknown>[] = []
  const fresh = { found: false }
  // A list stands for recursion, so that depth costs no stack.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    // Not thenables: those begin their work when they are asked.
    if (types.isPromise(next)) {
      promises.push(next)
      continue
    }
    for (const member of membersOf(next, fresh)) open.push(member)
  }
  return { promises, fromGetter: fresh.found && promises.length > 0 }
}

/** As far as the encoder follows them: what has a `toJSON` may hang together with half the process. */
function membersOf(holder: object, fresh: { found: boolean }): readonly unknown[] {
  try {
    if (Array.isArray(holder)) return holder as readonly unknown[]
    if (holder instanceof Map) return [...holder.keys(), ...holder.values()]
    if (holder instanceof Set) return [...holder]
    return ArrayBuffer.isView(holder) || 'toJSON' in holder ? [] : readableValues(holder, fresh)
  } catch {
    return []
  }
}

/**
 * One getter that throws does not hide what the others have begun. Each member is read twice: a getter that makes
 * something new for each reader is found without a look at descriptors, which costs many times as much.
 */
function readableValues(holder: object, fresh: { found: boolean }): readonly unknown[] {
  const values: unknown[] = []
  for (const key of Object.keys(holder)) {
    try {
      const value = (holder as Record<string, unknown>)[key]
      values.push(value)
      if (typeof value !== 'object' || value === null) continue
      const again = (holder as Record<string, unknown>)[key]
      if (again === value) continue
      fresh.found = true
      values.push(again)
    } catch {
      // Whoever sends the value meets it too, and tells of it.
    }
  }
  return values
}
