import { AsyncLocalStorage } from 'node:async_hooks'
import { shownKey } from './cached-read.ts'

/** A read for the cache that is running. */
export interface ReadScope {
  /** Name of the value. */
  readonly name: string
  /** The request that makes it; `undefined` once it is made. */
  of: object | undefined
  /** The read that requested this one. */
  readonly parent: ReadScope | undefined
  /** Tags of the cached values that this read has used. */
  readonly tags: Set<string>
  /** Whether one of these values was stale, or made of one. */
  ofStale: boolean
}

const scopes = new AsyncLocalStorage<ReadScope>()

/** Code read visitor data while making a value for all visitors. */
export class VisitorInCacheError extends Error {
  override readonly name = 'VisitorInCacheError'
}

/** Runs the work of a read. */
export function withReadScope<Result>(scope: ReadScope, work: () => Result): Result {
  return scopes.run(scope, work)
}

/**
 * The read of this request to which the running code belongs; `undefined` outside of any. Work that waits in a queue runs where
 * the one before it ended, which may be inside the read of another request, or of one that is over.
 */
export function currentReadScope(of: object): ReadScope | undefined {
  let scope = scopes.getStore()
  while (scope !== undefined && scope.of !== of) scope = scope.parent
  return scope
}

/** Notes a value that a read has used. */
export function noteUse(scope: ReadScope | undefined, tags: readonly string[], isStale: boolean): void {
  if (scope === undefined) return
  for (const tag of tags) scope.tags.add(tag)
  scope.ofStale ||= isStale
}

/**
 * Call this wherever visitor data is given to code.
 * @param of the visitor's request.
 * @param what as callers write it: `context.cookie()`.
 * @throws {VisitorInCacheError} inside a read.
 */
export function refuseInReadScope(of: object, what: string): void {
  const scope = currentReadScope(of)
  if (scope === undefined) return
  throw new VisitorInCacheError(
    `${what} was used inside of cached(${shownKey(scope.name)}): what is made there is given to every visitor. Use it before, and ` +
      'put everything on which the value depends into the key',
  )
}
