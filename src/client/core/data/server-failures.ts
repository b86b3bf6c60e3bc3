import { digestOf } from '../../../shared/control-flow.ts'
import { ServerFailure } from '../../react/boundaries.tsx'

/** Rejection of a deferred value in the browser for the server's rejection: a `ServerFailure` if it has a digest. */
export function serverFailure(reason: unknown): unknown {
  const digest = digestOf(reason)
  return digest === undefined ? reason : new ServerFailure(digest)
}
