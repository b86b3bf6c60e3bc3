import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { LoadSample } from './load-shedding.ts'
import type { TurnWaits } from './render-turns.ts'

const SAMPLE_MS = 250
const RESOLUTION_MS = 20 // the only cost for an idle process: a wake-up this often

/** Load of a process, as metrics show it. */
export interface LoadReading extends LoadSample {
  /** Average delay of the event loop since the last sample, in milliseconds. */
  readonly delayMs: number
}

/** Processors available to this process in its container, at most 1. */
function cpuQuota(): number {
  try {
    const [most, period] = readFileSync('/sys/fs/cgroup/cpu.max', 'utf8').split(' ').map(Number)
    return most !== undefined && period !== undefined && most > 0 ? Math.min(1, most / period) : 1
  } catch {
    return 1
  }
}

/**
 * Measures this process four times a second.
 * @param waits returns the longest waits for turns since the last call.
 * @returns stops measuring.
 */
export function watchLoad(waits: () => TurnWaits, listener: (reading: LoadReading) => void): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  const quota = cpuQuota()
  let utilization = performance.eventLoopUtilization()
  let cpu = process.cpuUsage()
  let sampledAt = performance.now()
  let due = performance.now() + SAMPLE_MS

  const timer = setInterval(() => {
    const now = performance.now()
    // A single turn that lasted the whole sample leaves the histogram empty, but makes this timer late.
    const delayMs = Math.max(0, histogram.count === 0 ? now - due : histogram.mean / 1e6 - RESOLUTION_MS)
    histogram.reset()
    due = now + SAMPLE_MS
    const total = performance.eventLoopUtilization()
    const share = performance.eventLoopUtilization(total, utilization).utilization
    utilization = total
    const { user, system } = process.cpuUsage(cpu)
    cpu = process.cpuUsage()
    // A process that gets no processor time is late as well, but refusing requests would not help it.
    const worked = (user + system) / 1_000 / (quota * Math.max(1, now - sampledAt))
    sampledAt = now
    const { longestMs, gapMs } = waits()
    listener({
      delayMs,
      latenessMs: Math.max(delayMs, longestMs),
      newcomerMs: Math.max(delayMs, gapMs),
      utilization: Math.min(share, worked),
    })
  }, SAMPLE_MS).unref()
  return () => {
    clearInterval(timer)
    histogram.disable()
  }
}
