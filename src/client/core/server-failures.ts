import { isRejectedValue } from '../../shared/protocol/hand-off.ts'
import { ServerFailure } from '../react/boundaries.tsx'

/**
 * The same loader result, with every deferred member that fails on the server rejecting with a `ServerFailure`. Whoever
 * renders a member hears of its failure; nobody else does.
 */
export function withServerFailures(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const members = Object.entries(value)
  if (!members.some(([, member]) => member instanceof Promise)) return value
  return Object.fromEntries(
    members.map(([key, member]) => {
      if (!(member instanceof Promise)) return [key, member]
      const named = member.catch((reason: unknown) => {
        throw isRejectedValue(reason) ? new ServerFailure(reason.digest) : reason
      })
      named.catch(() => undefined)
      return [key, named]
    }),
  )
}
