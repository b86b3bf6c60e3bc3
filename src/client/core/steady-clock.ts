/**
 * A clock that stands still where the machine's is set back, and goes on from there: nothing that was to be over by now
 * lasts longer for it. It counts the time in which the machine sleeps, which `performance.now()` does not everywhere.
 * @param wall milliseconds since the epoch.
 * @returns the same, plus all that the clock was ever set back.
 */
export function createSteadyClock(wall: () => number): () => number {
  let latest = wall()
  let setBack = 0
  return () => {
    const at = wall()
    setBack += Math.max(latest - at, 0)
    latest = at
    return at + setBack
  }
}
