/** Bounds how many documents are being made at once, so that overload ends in quick refusals and not in slow answers. */
export interface Admission {
  /** Takes a place; `false` when there is none. Every place taken must be left. */
  enter(): boolean
  leave(): void
  /** Documents in progress. */
  readonly pending: number
}

/** @param limit places, at least 1. */
export function createAdmission(limit: number): Admission {
  let pending = 0
  return {
    enter() {
      if (pending >= limit) return false
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
