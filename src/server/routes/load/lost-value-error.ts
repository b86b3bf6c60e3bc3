import { findLostValue } from '../../../shared/protocol/lost-values.ts'

/**
 * A value of a loader or an action that would arrive in the browser as something else. Thrown outside production only.
 */
class LostValueError extends Error {
  override readonly name = 'LostValueError'
}

/**
 * Checks values that JSON cannot represent; does nothing in production.
 * @param data results by segment id.
 * @param source of the results, for the message.
 * @throws {LostValueError} naming the first source and member that would not arrive unchanged.
 */
export function refuseLostValues(data: Readonly<Record<string, unknown>>, source = 'loader of '): void {
  if (process.env['NODE_ENV'] === 'production') return
  for (const [segment, value] of Object.entries(data)) {
    const lost = findLostValue(value)
    if (lost === undefined) continue
    throw new LostValueError(
      `The ${source}${segment} returned${lost.path === '' ? '' : ` ${lost.path}:`} ${lost.what}, which cannot ` +
        'be sent to the browser. Return plain values, or only the parts that the component needs',
    )
  }
}
