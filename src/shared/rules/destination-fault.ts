import type { DestinationFault } from './destination.ts'

/** A rule applies, but its destination is unusable with the request's captures. */
export interface FaultyDestination {
  readonly fault: DestinationFault
  /** 400 if the request is at fault, 500 if the table is. */
  readonly status: 400 | 500
  /** The source of the rule, for the log. */
  readonly source: string
}

/** @param source of the matching rule. */
export function faultyDestination(fault: DestinationFault, source: string): FaultyDestination {
  return { fault, status: fault === 'multi-match-needs-star' ? 500 : 400, source }
}
