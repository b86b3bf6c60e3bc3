import type { IncomingMessage } from 'node:http'
import { PURPOSE_HEADER } from '../../shared/protocol/route-data.ts'
import type { RequestContext } from '../request/context.ts'

/** For a guess at what somebody may want next. */
export type RequestPurpose = 'prefetch'

/**
 * Bounds how many documents and data answers are being made at once, so that overload ends in quick refusals and not in
 * slow answers.
 */
export interface Admission {
  /**
   * Takes a place; `false` when there is none. Every place taken must be left.
   * @param purpose prefetches get a place only while less than half of them are taken.
   */
  enter(purpose?: RequestPurpose): boolean
  leave(): void
  /** Answers in progress. */
  readonly pending: number
}

/** @param limit places, at least 1. */
export function createAdmission(limit: number): Admission {
  const prefetchLimit = Math.max(1, limit / 2)
  let pending = 0
  return {
    enter(purpose) {
      if (pending >= (purpose === undefined ? limit : prefetchLimit)) return false
      pending += 1
      return true
    },
    leave() {
      pending -= 1
    },
    get pending() {
      return pending
    },
  }
}

/**
 * Takes a place for as long as the answer is in progress.
 * @returns `false` when there is none: then the request is to be refused with 503.
 */
export function takePlace(admission: Admission, context: RequestContext): boolean {
  const purpose = purposeOf(context.req)
  if (!admission.enter(purpose)) {
    context.refusal = purpose === undefined ? 'too many answers in progress' : 'too busy for a prefetch'
    return false
  }
  context.onFinish(() => admission.leave())
  return true
}

/** Browsers say `Sec-Purpose: prefetch;...`, and keep that header from scripts, which say `Purpose: prefetch`. */
export function purposeOf({ headers }: Pick<IncomingMessage, 'headers'>): RequestPurpose | undefined {
  return isPrefetch(headers['sec-purpose']) || isPrefetch(headers[PURPOSE]) ? 'prefetch' : undefined
}

const PURPOSE = PURPOSE_HEADER.toLowerCase()

function isPrefetch(value: string | readonly string[] | undefined): boolean {
  return typeof value === 'string' && value.startsWith('prefetch')
}
