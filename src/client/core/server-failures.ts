import { digestOf } from '../../shared/control-flow.ts'
import { ServerFailure } from '../react/boundaries.tsx'

/** What a deferred value rejects with here, by what the server says of its failure: a `ServerFailure`, where it has a digest. */
export function serverFailure(reason: unknown): unknown {
  const digest = digestOf(reason)
  return digest === undefined ? reason : new ServerFailure(digest)
}

/** What it rejects with where the answer has broken off before it came. An answer that is wrong is no matter of the network. */
export function lostOnTheWay(error: unknown): unknown {
  const { kind = 'truncated' } = Object(error) as { readonly kind?: string }
  return kind === 'truncated' ? new ServerFailure() : error
}
