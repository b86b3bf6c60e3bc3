/**
 * How much load is refused, by how late this process is: one number, the pressure, from 0 to 3.
 *
 * | pressure | prefetches                  | data                        | documents, actions                |
 * |----------|-----------------------------|-----------------------------|-----------------------------------|
 * | 0        | served                      | served                      | served                            |
 * | 0 to 1   | that share of them refused  | served                      | served                            |
 * | 1 to 2   | refused                     | the share above 1 refused   | served                            |
 * | 2 to 2.9 | refused                     | refused                     | the share above 2 refused         |
 *
 * Each sample moves it by comparison with the limit (`LIMIT_MS`) of the class that is next, or partly refused. The lesser
 * lateness of the last two samples counts: a single one may be a pause of the garbage collector.
 *
 * | lateness         | utilization  | pressure                                     |
 * |------------------|--------------|----------------------------------------------|
 * | over the limit   | 0.8 or more  | up, faster the later: 0.1 to 0.4             |
 * | over the limit   | less         | unchanged: something else delays the process |
 * | half to whole    | any          | unchanged                                    |
 * | under half       | any          | down by 0.05                                 |
 *
 * A sample moves it to the next whole number at most. So it settles where admitted requests are served in time, and never
 * swings between all and nothing. `overloaded`, which takes the instance out of the balancer, begins above 2 and ends below 1.5.
 */
import { REQUEST_CLASSES, type RequestClass } from './request-class.ts'

/** A measurement of a process. */
export interface LoadSample {
  /** Milliseconds that a request waits for its turn: in the event loop, or for its render, the larger of both. */
  readonly latenessMs: number
  /**
   * The same for a visitor who has asked for nothing else (`TurnWaits`). Default: `latenessMs`.
   */
  readonly newcomerMs?: number | undefined
  /** Busy share of the event loop since the last sample, 0 to 1. */
  readonly utilization: number
}

/** State of load shedding. */
export interface LoadState {
  /** 0 to `MOST_PRESSURE`. */
  readonly pressure: number
  /** Documents are being refused, or were a moment ago. */
  readonly overloaded: boolean
  /** Of the last sample. */
  readonly latenessMs: number
}

/**
 * How late each class may be served, in ms. Prefetches must not delay anybody; visitors would rather wait than be
 * refused.
 */
export const LIMIT_MS: Readonly<Record<RequestClass, number>> = { prefetch: 100, data: 400, document: 1_000 }

/** A tenth of the documents is always admitted: they show when the load is over. */
export const MOST_PRESSURE = 2.9

const BUSY = 0.8
const STEP_UP = 0.1
const MOST_STEPS = 4
const STEP_DOWN = 0.05 // from all data refused to none in 5 s of samples
const OVERLOADED_ABOVE = 2
const RECOVERED_BELOW = 1.5

/** Nothing is refused. */
export const NO_LOAD: LoadState = { pressure: 0, overloaded: false, latenessMs: 0 }

/** The state after a sample; samples come four times a second. */
export function reduceLoad(
  { pressure, overloaded, latenessMs: before }: LoadState,
  { latenessMs, utilization }: LoadSample,
): LoadState {
  const step = stepOf(Math.min(before, latenessMs) / LIMIT_MS[nextRefused(pressure)], utilization)
  // The next class has a limit of its own.
  const next = round(Math.min(clamp(pressure + step), Math.floor(pressure) + 1))
  return { pressure: next, overloaded: overloaded ? next >= RECOVERED_BELOW : next > OVERLOADED_ABOVE, latenessMs }
}

/** Refused share of a class, 0 to 1. */
export function refusedShare({ pressure }: LoadState, requestClass: RequestClass): number {
  return Math.min(1, Math.max(0, pressure - REQUEST_CLASSES.indexOf(requestClass)))
}

function stepOf(ratio: number, utilization: number): number {
  if (ratio > 1) return utilization >= BUSY ? STEP_UP * Math.min(MOST_STEPS, ratio) : 0
  return ratio < 0.5 ? -STEP_DOWN : 0
}

function nextRefused(pressure: number): RequestClass {
  return REQUEST_CLASSES[Math.min(2, Math.floor(pressure))] ?? 'document'
}

function clamp(pressure: number): number {
  return Math.min(MOST_PRESSURE, Math.max(0, pressure))
}

/** Sums of tenths must return to exactly 0. */
function round(pressure: number): number {
  return Math.round(pressure * 1_000) / 1_000
}
