/**
 * Simulates one instance as a queue: requests arrive at random, one core works on one after another, and while too many
 * wait, new ones are refused. The instances of a balancer that chooses by the visitor's address are independent queues
 * like this.
 */

/** A kind of request in the simulation. */
export interface Flow {
  /** Requests per second at this instance. */
  readonly rate: number
  /** Average CPU time of one, in ms; it varies exponentially, which is more than measured. */
  readonly costMs: number
}

/** Options of a run. */
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

/** Results; times in ms from arrival to the end of the answer. */
export interface SimulationResult {
  /** Busy share of the core. */
  readonly utilisation: number
  /** Share of requests that were refused. */
  readonly refused: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Successful answers per second. */
  readonly goodput: number
}

/** Runs requests through the queue. */
export function simulateInstance(options: SimulationOptions): SimulationResult {
  const { flows, mostPending, refusalMs, requests, random } = options
  const rate = flows.reduce((sum, flow) => sum + flow.rate, 0) / 1000
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean
  const times: number[] = []
  const ends: number[] = [] // sorted end times of the waiting and running requests
  let first = 0
  let now = 0
  let free = 0 // when the core has finished all accepted requests
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
