import { performance } from 'node:perf_hooks'

/**
 * Measures the idle share of this process's event loop. A processor shared with others makes it look busier, not idler.
 * @returns a function that returns the share since its last call, 0 to 1.
 */
export function createIdleShare(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return 1 - utilization
  }
}
