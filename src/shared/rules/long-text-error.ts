/** The part of a request that an expression is asked about. */
export type AskedPart = 'path' | 'query' | 'header' | 'cookie' | 'host'

/**
 * A text of a visitor is too long for the expression of a rule. A rule may protect something, so that neither answer,
 * that it applies or that it does not, is safe: the request is refused.
 */
export class LongTextError extends Error {
  override readonly name = 'LongTextError'
  /** 414 or 431. */
  readonly status: 414 | 431
  /** Source of the rule, as far as it is known. */
  source = ''

  constructor(part: AskedPart, actual: number, limit: number) {
    super(`${part} of ${actual} characters, and the expression is asked about ${limit} at most`)
    this.status = part === 'path' || part === 'query' ? 414 : 431
  }
}
