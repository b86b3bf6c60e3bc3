/** Finds the promises in an author's value, so that none of them can end the process with an unhandled rejection. */
import { types } from 'node:util'
import { isJsonValue } from '../../shared/protocol/hydration-data.ts'
import { isSparse } from '../../shared/protocol/value-frames.ts'
import { readOnce } from './read-once.ts'

/**
 * Attaches a no-op catch to each promise in a value that is refused, or whose failures are reported elsewhere.
 * @returns the value to use from here, as `watchPromises` returns it.
 */
export function ignoreRejections<Value>(value: Value): Value {
  if (isPlainJson(value)) return value
  const found = promisesIn(value, new Set())
  for (const promise of found.promises) promise.catch(() => undefined)
  if (!found.fromGetter) return value
  const read = readOnce(value) as Value
  for (const promise of promisesIn(read, new Set()).promises) promise.catch(() => undefined)
  return read
}

/** A quick check without a list of visited objects: most values are plain JSON. */
export function isPlainJson(value: unknown): boolean {
  try {
    return isJsonValue(value, 0, ignoreRejections)
  } catch {
    return false // the sender reads the getter again, and reports its failure
  }
}

/** Whether a value has a promise, however deep. */
export function holdsPromise(value: unknown): boolean {
  return !isPlainJson(value) && promisesIn(value, new Set()).promises.length > 0
}

interface FoundPromises {
  readonly promises: readonly Promise<unknown>[]
  /** Whether a getter created one of them, or its container, during this read. */
  readonly fromGetter: boolean
}

/** Resolves when all promises in a value, and in what these give, are settled. Does not reject. */
export async function settlePromises(value: unknown, seen = new Set<object>()): Promise<void> {
  if (isPlainJson(value)) return
  await Promise.all(
    promisesIn(value, seen).promises.map((promise) =>
      promise.then(
        (given) => settlePromises(given, seen),
        () => undefined,
      ),
    ),
  )
}

/** @param seen objects that were searched before; newly searched ones are added. */
export function promisesIn(value: unknown, seen: Set<object>): FoundPromises {
  const promises: Promise<unknown>[] = []
  const fresh = { found: false }
  // A list instead of recursion: depth costs no stack.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    // Thenables are left out: calling `then` starts their work.
    if (types.isPromise(next)) {
      promises.push(next)
      continue
    }
    for (const member of membersOf(next, fresh)) open.push(member)
  }
  return { promises, fromGetter: fresh.found && promises.length > 0 }
}

/** Only members that the encoder reads: an object with `toJSON` may reference half of the process. */
function membersOf(holder: object, fresh: { found: boolean }): readonly unknown[] {
  try {
    if (Array.isArray(holder)) return isSparse(holder) ? Object.values(holder) : (holder as readonly unknown[])
    if (holder instanceof Map) return [...holder.keys(), ...holder.values()]
    if (holder instanceof Set) return [...holder]
    return ArrayBuffer.isView(holder) || 'toJSON' in holder ? [] : readableValues(holder, fresh)
  } catch {
    return []
  }
}

/**
 * One getter that throws does not hide the promises of the others. Each member is read twice: this finds a getter that
 * returns a new value for each read, without descriptors, which are many times slower.
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
      // The sender reads it again, and reports its failure.
    }
  }
  return values
}
