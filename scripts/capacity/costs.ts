/** Kinds of requests by their cost. */
export const REQUEST_KINDS = [
  'light document',
  'content document',
  'heavy document',
  'route data',
  'asset',
  'refusal',
] as const
/** One of `REQUEST_KINDS`. */
export type RequestKind = (typeof REQUEST_KINDS)[number]

/** CPU time of the server process for one request of each kind, in ms. */
export type Costs = Readonly<Record<RequestKind, number>>

/** A page that represents a kind of request. */
export interface CostSample {
  readonly path: string
  /** Expected status of its answer. */
  readonly status: number
}

/** The requests of `--measure`. The cheapest page represents a refusal, which is cheaper still. */
export const SAMPLES: Readonly<Record<RequestKind, CostSample>> = {
  'light document': { path: '/lab/bench/hello', status: 200 },
  'content document': { path: '/docs/routes', status: 200 },
  'heavy document': { path: '/lab/bench/table', status: 200 },
  'route data': { path: '/_m/data/lab/cache/a', status: 200 },
  asset: { path: '', status: 200 },
  refusal: { path: '/readyz', status: 200 },
}

/**
 * Printed by `node scripts/capacity-plan.ts --measure` on 2026-11-21: two cores of an Intel Xeon in a virtual machine,
 * Node 26.10, log lines on, no compression. The machine was busy, with ten waiting processes per core: a calm run of
 * `npm run bench` on it measured 0.06 ms for the light page and 2.0 for the heavy one. So these are upper bounds.
 */
export const MEASURED_COSTS: Costs = {
  'light document': 0.28,
  'content document': 1.26,
  'heavy document': 4.32,
  'route data': 0.25,
  asset: 0.46,
  refusal: 0.053,
}
