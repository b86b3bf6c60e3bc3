import type { RejectedValue } from '../../shared/protocol/hand-off.ts'
import type { RequestContext } from '../request/context.ts'
import { reportFailure } from '../render/failure.ts'

/** A loader's result, and whether something in it is still to come. */
export interface Deferrable {
  readonly value: unknown
  readonly deferred: boolean
}

/**
 * Prepares the members of a loader's result that are promises: each one ends when the request is aborted, and none
 * can become an unhandled rejection, whoever awaits it or does not.
 */
export function deferMembers(value: unknown, context: RequestContext): Deferrable {
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return { value, deferred: false }
  let prepared: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (!isPromiseLike(member)) continue
    prepared ??= { ...value }
    const bounded = new Promise((resolve, reject) => {
      context.onAbort(reject)
      Promise.resolve(member).then(resolve, reject)
    })
    bounded.catch((reason: unknown) => reportFailure(reason, context, 'deferred'))
    prepared[key] = bounded
  }
  return prepared === undefined ? { value, deferred: false } : { value: prepared, deferred: true }
}

/**
 * The same results as the browser may see them: a rejection keeps its digest and nothing else.
 * @param data loader results by segment id, prepared by `deferMembers`.
 */
export function publicData(
  data: Readonly<Record<string, unknown>>,
  context: RequestContext,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(data).map(([id, value]) => [id, publicValue(value, context)]))
}

/** One loader's result as the browser may see it; see `publicData`. */
export function publicValue(value: unknown, context: RequestContext): unknown {
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (!isPromiseLike(member)) return [key, member]
      const visible = Promise.resolve(member).catch((reason: unknown) => {
        const rejected: RejectedValue = { digest: reportFailure(reason, context, 'deferred') }
        throw rejected
      })
      visible.catch(() => undefined)
      return [key, visible]
    }),
  )
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
