import type { DevFailure } from './dev-messages.ts'
import { positionOf } from './fold-frames.ts'

type Side = DevFailure['kind']

/** A failure in the overlay, with its repetitions. */
export interface ListedFailure {
  readonly failure: DevFailure
  /** Where it was seen. It is fixed when it is fixed everywhere. */
  readonly sides: readonly Side[]
  /** From 1. */
  readonly count: number
}

const MOST_LISTED = 10 // a failure in a loop must not fill the page

/**
 * Adds a failure. A failed build replaces all others, which may be its consequences. An equal failure is counted,
 * whichever side saw it; news of the same request, or of its retries, only adds to it.
 * @returns the new list, and the index of the failure in it.
 */
export function addFailure(
  list: readonly ListedFailure[],
  failure: DevFailure,
): { readonly list: readonly ListedFailure[]; readonly index: number } {
  const index = list.findIndex((listed) => isSame(listed.failure, failure))
  const known = list[index]
  if (known === undefined) {
    const kept = failure.kind === 'build' ? list.filter(({ failure: { kind } }) => kind === 'build') : list
    const next = [...kept, { failure, sides: [failure.kind], count: 1 }].slice(-MOST_LISTED)
    return { list: next, index: next.length - 1 }
  }
  const isNews = isOfRequest(known.failure, failure)
  const merged: ListedFailure = {
    failure: richer(known.failure, failure),
    sides: [...new Set([...known.sides, failure.kind])],
    count: known.count + (isNews ? 0 : 1),
  }
  return { list: list.with(index, merged), index }
}

/** Removes what these sides have seen. */
export function clearFailures(list: readonly ListedFailure[], sides: readonly Side[]): readonly ListedFailure[] {
  if (!list.some((listed) => listed.sides.some((side) => sides.includes(side)))) return list
  return list.flatMap((listed) => {
    const kept = listed.sides.filter((side) => !sides.includes(side))
    return kept.length === 0 ? [] : [{ ...listed, sides: kept }]
  })
}

/** Whether the newer failure is of the same request, or of one with the same cause. */
function isOfRequest({ request, cause }: DevFailure, latest: DevFailure): boolean {
  if (request === undefined || latest.request === undefined) return false
  return request.id === latest.request.id || (cause !== undefined && cause === latest.cause)
}

function isSame(one: DevFailure, other: DevFailure): boolean {
  if (one.digest !== undefined && one.digest === other.digest) return true
  if (one.message !== other.message || (one.kind === 'build') !== (other.kind === 'build')) return false
  const [here, there] = [placeOf(one), placeOf(other)]
  return here === undefined || there === undefined || here === there
}

function placeOf({ frames }: DevFailure): string | undefined {
  const frame = frames.find(({ own }) => own)
  return frame && positionOf(frame)
}

/** Keeps what only one of them knows. The newer request is the one that a developer has just made. */
function richer(former: DevFailure, latest: DevFailure): DevFailure {
  const [main, other] =
    placeOf(former) === undefined && placeOf(latest) !== undefined ? [latest, former] : [former, latest]
  const { request = former.request, cause = former.cause } = latest
  return { ...other, ...main, ...(request === undefined ? {} : { request }), ...(cause === undefined ? {} : { cause }) }
}
