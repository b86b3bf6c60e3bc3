import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { LoadSample } from './load-shedding.ts'

const SAMPLE_MS = 250
const RESOLUTION_MS = 20 // a wake-up that often is all that an idle process pays

/** Loads of a process, as metrics show them. */
export interface LoadReading extends LoadSample {
  /** Milliseconds by which the event loop was late, on average since the last sample. */
  readonly delayMs: number
}

/** Processors that a container leaves to this process: 1, unless it leaves less. */
function cpuQuota(): number {
  try {
    const [most, period] = readFileSync('/sys/fs/cgroup/cpu.max', 'utf8').split(' ').map(Number)
    return most !== undefined && period !== undefined && most > 0 ? Math.min(1, most / period) : 1
  } catch {
    return 1
  }
}

/**
 * Measures this process four times a second, until it ends.
 * @param longestWaitMs milliseconds that a render has waited for its turn since it was last asked.
 * @returns ends it.
 */
export function watchLoad(longestWaitMs: () => number, listener: (reading: LoadReading) => void): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  const quota = cpuQuota()
  let utilization = performance.eventLoopUtilization()
  let cpu = process.cpuUsage()
  let sampledAt = performance.now()
  let due = performance.now() + SAMPLE_MS

  const timer = setInterval(() => {
    const now = performance.now()
    // One turn that lasted the whole sample leaves nothing in the histogram, but this timer late.
    const delayMs = Math.max(0, histogram.count === 0 ? now - due : histogram.mean / 1e6 - RESOLUTION_MS)
    histogram.reset()
    due = now + SAMPLE_MS
    const total = performance.eventLoopUtilization()
    const share = performance.eventLoopUtilization(total, utilization).utilization
    utilization = total
    const { user, system } = process.cpuUsage(cpu)
    cpu = process.cpuUsage()
    // A process that others keep from the processor is late as well, and refusing would not help it.
    const worked = (user + system) / 1_000 / (quota * Math.max(1, now - sampledAt))
    sampledAt = now
    listener({ delayMs, latenessMs: Math.max(delayMs, longestWaitMs()), utilization: Math.min(share, worked) })
  }, SAMPLE_MS).unref()
  return () => {
    clearInterval(timer)
    histogram.disable()
  }
}
