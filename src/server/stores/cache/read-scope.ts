import { AsyncLocalStorage } from 'node:async_hooks'

/** What is being read for a cache, and for whom. */
export interface ReadScope {
  /** Name of the value. */
  readonly name: string
  /** The read inside of which this one was asked for. */
  readonly parent: ReadScope | undefined
  /** Tags of what this read has used of the cache. */
  readonly tags: Set<string>
}

const scopes = new AsyncLocalStorage<ReadScope>()

/** Something of one visitor was looked at while a value was made that is kept for all. */
export class VisitorInCacheError extends Error {
  override readonly name = 'VisitorInCacheError'
}

/** Runs the work of a read. */
export function withReadScope<Result>(scope: ReadScope, work: () => Result): Result {
  return scopes.run(scope, work)
}

/** The read that this code is part of; `undefined` outside of any. */
export function currentReadScope(): ReadScope | undefined {
  return scopes.getStore()
}

/**
 * To be called where something of the visitor is handed out.
 * @param what as its reader writes it: `context.cookie()`.
 * @throws {VisitorInCacheError} inside of a read.
 */
export function refuseInReadScope(what: string): void {
  const scope = scopes.getStore()
  if (scope === undefined) return
  throw new VisitorInCacheError(
    `${what} was used inside of cached(${scope.name}): what is made there is given to every visitor. Use it before, and ` +
      'put what the value depends on into the key',
  )
}
