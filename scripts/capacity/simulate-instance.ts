/**
 * One instance as a queue: requests arrive at random, one core works on one after another, and what comes while too
 * many wait is refused. The instances of a balancer that chooses by the visitor's address are such queues side by side.
 */

/** A kind of request in the simulation. */
export interface Flow {
  /** Requests a second at this instance. */
  readonly rate: number
  /** CPU time of one, in ms, on average; single ones vary exponentially, which is more than measured. */
  readonly costMs: number
}

/** How a run is set up. */
export interface SimulationOptions {
  readonly flows: readonly Flow[]
  /** As `MAX_PENDING_RENDERS`. */
  readonly mostPending: number
  /** CPU time of a refusal, in ms. */
  readonly refusalMs: number
  /** How many requests arrive. */
  readonly requests: number
  /** Numbers from 0 to 1, 1 excluded. */
  readonly random: () => number
}

/** What has come out; times in ms from arrival to the end of the answer. */
export interface SimulationResult {
  /** Share of the time in which the core worked. */
  readonly utilisation: number
  /** Share of requests that were refused. */
  readonly refused: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Good answers a second. */
  readonly goodput: number
}

/** Runs requests through the queue. */
export function simulateInstance(options: SimulationOptions): SimulationResult {
  const { flows, mostPending, refusalMs, requests, random } = options
  const rate = flows.reduce((sum, flow) => sum + flow.rate, 0) / 1000
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean
  const times: number[] = []
  const ends: number[] = [] // when those that are waiting or being worked on will be done, in order
  let first = 0
  let now = 0
  let free = 0 // when the core has done all it has taken on
  let worked = 0
  let refused = 0
  for (let count = 0; count < requests; count += 1) {
    now += exponential(1 / rate)
    while (first < ends.length && (ends[first] ?? 0) <= now) first += 1
    const full = ends.length - first >= mostPending
    const work = full ? refusalMs : exponential(pickCost(flows, rate * 1000 * random()))
    free = Math.max(free, now) + work
    worked += work
    if (full) refused += 1
    else {
      ends.push(free)
      times.push(free - now)
    }
  }
  times.sort((a, b) => a - b)
  const end = Math.max(now, free)
  return {
    utilisation: worked / end,
    refused: refused / requests,
    meanMs: times.reduce((sum, time) => sum + time, 0) / times.length,
    p50Ms: times[Math.floor(times.length * 0.5)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    goodput: (times.length / end) * 1000,
  }
}

function pickCost(flows: readonly Flow[], at: number): number {
  let rest = at
  for (const { rate, costMs } of flows) {
    rest -= rate
    if (rest < 0) return costMs
  }
  return flows.at(-1)?.costMs ?? 0
}
