import { types } from 'node:util'
import { isJsonValue } from '../../shared/protocol/hand-off.ts'
import type { RequestContext } from '../request/context.ts'
import { reportFailure, type FailurePlace } from '../render/failure.ts'

/**
 * Hears of all promises in what an author has returned, wherever they stand and whatever they bring: the answer may go out
 * without them, as for `HEAD`, behind another segment's refusal or in a redirect, and a rejection that nobody hears of ends
 * the process. Rejections are failures of the request, until it is aborted: from then on they follow from that.
 * @param place where it came from, for the log.
 */
export function watchPromises(value: unknown, context: RequestContext, place: FailurePlace): void {
  watchUnseen(value, context, place, new Set())
}

/** @param seen objects that have been looked at: what a promise brings may hold that promise, and would go round for ever. */
function watchUnseen(value: unknown, context: RequestContext, place: FailurePlace, seen: Set<object>): void {
  try {
    // Nearly always; it makes no list of what it has seen.
    if (isJsonValue(value)) return
  } catch {
    // Whoever sends the value meets the getter too, and tells of it.
  }
  // A list stands for recursion, so that depth costs no stack.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    // Not thenables: those begin their work when they are asked.
    if (types.isPromise(next)) {
      next.then(
        (brought) => watchUnseen(brought, context, place, seen),
        (reason: unknown) => {
          if (context.aborted === undefined) reportFailure(reason, context, place)
        },
      )
    } else for (const member of membersOf(next)) open.push(member)
  }
}

/** As far as the encoder follows them: what has a `toJSON` may hang together with half the process. */
function membersOf(holder: object): readonly unknown[] {
  try {
    if (Array.isArray(holder)) return holder as readonly unknown[]
    if (holder instanceof Map) return [...holder.keys(), ...holder.values()]
    if (holder instanceof Set) return [...holder]
    return ArrayBuffer.isView(holder) || 'toJSON' in holder ? [] : Object.values(holder)
  } catch {
    return []
  }
}
