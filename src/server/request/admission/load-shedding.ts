/**
 * How much is refused, by how late this process is: one number, the pressure, from 0 to 3.
 *
 * | pressure | prefetches                  | data                        | documents, actions                |
 * |----------|-----------------------------|-----------------------------|-----------------------------------|
 * | 0        | served                      | served                      | served                            |
 * | 0 to 1   | that share of them refused  | served                      | served                            |
 * | 1 to 2   | refused                     | what is over 1 is refused   | served                            |
 * | 2 to 2.9 | refused                     | refused                     | what is over 2 is refused         |
 *
 * With each sample it moves by the limit of the class that is next, or partly refused: `LIMIT_MS`. What counts is the
 * lesser lateness of the last two samples: one alone is a pause of the garbage collector.
 *
 * | lateness         | utilization  | pressure                                     |
 * |------------------|--------------|----------------------------------------------|
 * | over the limit   | 0.8 or more  | up, faster the later: 0.1 to 0.4             |
 * | over the limit   | less         | stays: something else kept this process      |
 * | half to whole    | any          | stays                                        |
 * | under half       | any          | down by 0.05                                 |
 *
 * A sample takes it no further than to the next whole number. So it settles where what is let in can be served in time, and never swings between all and nothing. `overloaded`,
 * which takes the instance out of the balancer, begins above 2 and ends below 1.5.
 */
import { REQUEST_CLASSES, type RequestClass } from './request-class.ts'

/** What a process is measured by. */
export interface LoadSample {
  /** Milliseconds that a request waits for its turn: in the event loop, or for its render, whichever is more. */
  readonly latenessMs: number
  /** Share of the time since the last sample in which the event loop was at work, 0 to 1. */
  readonly utilization: number
}

/** Where it stands. */
export interface LoadState {
  /** 0 to `MOST_PRESSURE`. */
  readonly pressure: number
  /** Documents are being refused, or were a moment ago. */
  readonly overloaded: boolean
  /** Of the last sample. */
  readonly latenessMs: number
}

/** How late each class may be served, in ms. A guess must cost nobody anything; a visitor rather waits than is refused. */
export const LIMIT_MS: Readonly<Record<RequestClass, number>> = { prefetch: 100, data: 400, document: 1_000 }

/** A tenth of the documents is always let in: what shows that the load is over. */
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

/** Which share of a class is refused, 0 to 1. */
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

/** Sums of tenths must come back to 0. */
function round(pressure: number): number {
  return Math.round(pressure * 1_000) / 1_000
}
