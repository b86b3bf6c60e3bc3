import { REQUEST_KINDS, type Costs } from './costs.ts'
import { demandOf, type Behaviour, type Demand } from './demand.ts'
import { seededRandom } from '../seeded-random.ts'
import { simulateInstance, type SimulationResult } from './simulate-instance.ts'

/** Constraints of a plan. */
export interface PlanRules {
  /** Share of its core that an instance may use on an ordinary day. */
  readonly utilisation: number
  /** Number of zones; without any one of them, the rest must still serve. */
  readonly zones: number
  /** `MAX_PENDING_RENDERS` of an instance. */
  readonly mostPending: number
}

/** As deploy/kubernetes has it. */
export const RULES: PlanRules = { utilisation: 0.6, zones: 3, mostPending: 256 }

/** One simulated load of the plan. */
export interface PlannedLoad extends SimulationResult {
  readonly title: string
  /** Number of serving instances. */
  readonly instances: number
}

/** The plan for one behaviour of visitors. */
export interface Plan {
  readonly demand: Demand
  /** Number of cores that the load keeps busy. */
  readonly cores: number
  readonly instances: number
  readonly loads: readonly PlannedLoad[]
}

const REQUESTS = 100_000 // the 99th percentile is then of 1,000 requests
const SEED = 20_261_121
const OVERLOADS = [1.5, 2, 5, 10] as const

/** The required number of instances, and their results on good and bad days. */
export function planFor(behaviour: Behaviour, costs: Costs, rules: PlanRules = RULES): Plan {
  const demand = demandOf(behaviour)
  const cores =
    REQUEST_KINDS.reduce((sum, kind) => sum + (kind === 'refusal' ? 0 : demand[kind] * costs[kind]), 0) / 1000
  const atLeast = Math.ceil(cores / rules.utilisation)
  const instances = Math.ceil(atLeast / rules.zones) * rules.zones

  const load = (title: string, factor: number, serving: number): PlannedLoad => ({
    title,
    instances: serving,
    ...simulateInstance({
      flows: Object.entries(demand).map(([kind, rate]) => ({
        rate: (rate * factor) / serving,
        costMs: costs[kind as keyof Demand],
      })),
      mostPending: rules.mostPending,
      refusalMs: costs.refusal,
      requests: REQUESTS,
      random: seededRandom(SEED),
    }),
  })
  return {
    demand,
    cores,
    instances,
    loads: [
      load('an ordinary day', 1, instances),
      load('one zone is gone', 1, instances - instances / rules.zones),
      ...OVERLOADS.map((factor) => load(`${factor} times the visitors`, factor, instances)),
    ],
  }
}
