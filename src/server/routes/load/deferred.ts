import type { RequestContext } from '../../request/context.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { watchPromises } from './watch-promises.ts'

/** A loader's result, and whether it contains a pending value. */
export interface Deferrable {
  readonly value: unknown
  readonly deferred: boolean
}

/**
 * Prepares the promises among the members of a loader's result: each one ends when the request is aborted. No promise
 * in it, however deep, can become an unhandled rejection.
 */
export function deferMembers(given: unknown, context: RequestContext): Deferrable {
  const value = watchPromises(given, context, 'deferred')
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return { value, deferred: false }
  let prepared: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (!isPromiseLike(member)) continue
    prepared ??= { ...value }
    const bounded = new Promise((resolve, reject) => {
      context.onAbort(reject)
      Promise.resolve(member).then(resolve, (reason: unknown) => reject(normalizeThrown(reason)))
    })
    bounded.catch((reason: unknown) => reportFailure(reason, context, 'deferred'))
    prepared[key] = bounded
  }
  return prepared === undefined ? { value, deferred: false } : { value: prepared, deferred: true }
}

/** Whether a value is an object of no class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
