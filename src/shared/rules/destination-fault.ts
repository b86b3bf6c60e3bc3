import type { DestinationFault } from './destination.ts'

/** A rule applies, and what the request's captures make of its destination cannot be used. */
export interface FaultyDestination {
  readonly fault: DestinationFault
  /** 400 where the request is at fault, 500 where the table is. */
  readonly status: 400 | 500
  /** The source of the rule, for the log. */
  readonly source: string
}

/** @param source of the rule that applies. */
export function faultyDestination(fault: DestinationFault, source: string): FaultyDestination {
  return { fault, status: fault === 'multi-match-needs-star' ? 500 : 400, source }
}
