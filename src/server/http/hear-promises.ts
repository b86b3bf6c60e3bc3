/** Finds the promises in a value that an author has returned, so that no rejection of one ends the process. */
import { types } from 'node:util'
import { isJsonValue } from '../../shared/protocol/hydration-data.ts'
import { readOnce } from './read-once.ts'

/**
 * Attaches a no-op catch to each promise in a value, for a value that is refused or whose failures are reported elsewhere.
 * @returns the value to go on with, as `watchPromises` does.
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

/** A quick look that keeps no list of what it has seen: most values are plain JSON. */
export function isPlainJson(value: unknown): boolean {
  try {
    return isJsonValue(value, 0, hearPromises)
  } catch {
    return false // whoever sends the value meets the getter too, and tells of it
  }
}

export interface FoundPromises {
  readonly promises: readonly Promise<unknown>[]
  /** Whether a getter has made one of them, or what it is in, for this look alone. */
  readonly fromGetter: boolean
}

/** @param seen objects that were searched before; those that are searched now are added. */
export function promisesIn(value: unknown, seen: Set<object>): FoundPromises {
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
