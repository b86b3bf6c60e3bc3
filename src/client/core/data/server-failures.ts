import { digestOf } from '../../../shared/control-flow.ts'
import { ServerFailure } from '../../react/boundaries.tsx'

/** What a deferred value rejects with here, by what the server says of its failure: a `ServerFailure`, where it has a digest. */
export function serverFailure(reason: unknown): unknown {
  const digest = digestOf(reason)
  return digest === undefined ? reason : new ServerFailure(digest)
}
