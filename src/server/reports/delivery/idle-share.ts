import { performance } from 'node:perf_hooks'

/**
 * Measures how much of the time this process's event loop had nothing to do. A processor that others use makes it look
 * busier, not idler.
 * @returns tells the share since it was last called, 0 to 1.
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
