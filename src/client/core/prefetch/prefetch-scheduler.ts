/**
 * Decides which prefetches run and which wait. Pure: takes the time, and the runner does the work.
 *
 * | phase    | means                                   | leaves it by                                           |
 * |----------|-----------------------------------------|--------------------------------------------------------|
 * | queued   | nothing is loading                      | advance: started; cancel, the queue's bound: forgotten |
 * | started  | code may load, data waits for its slots | advance: fetching; settle, cancel: forgotten           |
 * | fetching | code and data load                      | settle, cancel: forgotten                              |
 *
 * | event      | does                                                                                           |
 * |------------|------------------------------------------------------------------------------------------------|
 * | add        | queues a target; an existing one is promoted, never demoted; a blocked one is ignored          |
 * | cancel     | drops it: it has left view or page, or a navigation took it over                               |
 * | settle     | drops it; if it failed, blocks the target for 10 s; ignored for one that has not started       |
 * | pause      | nothing starts before that time, not even intent; running ones continue; a pause only grows    |
 *
 * Bounds: 5 routes started or fetching, 3 segments in data requests (a request for more runs alone), one job of
 * intent beside both, 2,000 queued; beyond that the oldest of the lowest priority is dropped. Intent precedes render,
 * render precedes viewport, and within one the order is first in, first out. Data does not overtake: a request that
 * waits for slots is not passed by a smaller one behind it.
 *
 * A page that nobody touches asks for little: without intent, nothing starts once a minute has had 30 requests, or fewer
 * with much data.
 *
 * A page may add a thousand links at once, so the maps and sets inside a state are passed to the next state and
 * changed there: a state is used up by the call that takes it, unless that call returns the same object. The outer
 * object is new whenever something changed.
 */

/** Maximum concurrent route prefetches. */
export const MAX_ROUTES = 5

/** Maximum segments in concurrent data requests of prefetches, all routes together. */
export const MAX_SEGMENTS = 3

/** Milliseconds for which a target is not prefetched again after a failure; clicks are not affected. */
export const RETRY_BLOCK_MS = 10_000

/** Maximum waiting jobs; a page with more links in view gets the newest of them. */
export const MAX_QUEUED = 2000

/** Length of the time that the budget is for, in milliseconds. */
export const BUDGET_MS = 60_000

/** Characters of all prefetched data in that time after which no job without intent starts. */
export const BUDGET = 990_000

/** What a request counts in characters, beside those of its answer: 30 of them are the whole budget. */
export const REQUEST_COST = 33_000

/** Why a target is wanted. */
export type PrefetchPriority = 'viewport' | 'render' | 'intent'

/** One target to prefetch. */
export interface PrefetchJob {
  /** The runner's name for it; a path with its query. */
  readonly target: string
  readonly priority: PrefetchPriority
  /** See the table at the top of this file. */
  readonly phase: 'queued' | 'started' | 'fetching'
  /** Number of segments in its data request; 0 before it is fetching. */
  readonly segments: number
  /** Whether it is the one that runs beyond both limits. */
  readonly extra: boolean
}

/** When something was spent, in milliseconds, and how many characters. */
type Spending = readonly [at: number, cost: number]

/** State of all prefetches. */
export interface Prefetching {
  /** By target. */
  readonly jobs: ReadonlyMap<string, PrefetchJob>
  /** Until when, in milliseconds, a target is not prefetched again; the earliest first. */
  readonly blocked: ReadonlyMap<string, number>
  /** Milliseconds; 0 without a pause. */
  readonly pausedUntil: number
  /** What counts against the budget, the oldest first. */
  readonly spent: readonly Spending[]
  /** Targets of queued jobs, first in, first out. */
  readonly queues: Readonly<Record<PrefetchPriority, ReadonlySet<string>>>
  /** Targets of jobs that are started or fetching, in the order in which they started. */
  readonly active: ReadonlySet<string>
}

/** Events of prefetches; see the table at the top of this file. Times are in milliseconds. */
export type PrefetchEvent =
  | { readonly type: 'add'; readonly target: string; readonly priority: PrefetchPriority; readonly now: number }
  | { readonly type: 'cancel'; readonly target: string }
  | {
      readonly type: 'settle'
      readonly target: string
      readonly now: number
      readonly failed: boolean
      /** Characters of its answers, and what further requests count. */
      readonly cost: number
    }
  | { readonly type: 'pause'; readonly until: number }

/** The same state, mutable for its owner. */
interface OwnPrefetching {
  readonly jobs: Map<string, PrefetchJob>
  readonly blocked: Map<string, number>
  pausedUntil: number
  readonly spent: Spending[]
  readonly queues: Readonly<Record<PrefetchPriority, Set<string>>>
  readonly active: Set<string>
}

const PRIORITIES: readonly PrefetchPriority[] = ['intent', 'render', 'viewport'] // highest first

/** No jobs, no blocks, no pause. */
export const NO_PREFETCHES: Prefetching = createPrefetching()

/** The next state; the same object if nothing changes. It starts nothing: `advancePrefetching` does. */
export function reducePrefetching(state: Prefetching, event: PrefetchEvent): Prefetching {
  switch (event.type) {
    case 'add':
      return add(state, event.target, event.priority, event.now)
    case 'pause':
      return event.until > state.pausedUntil ? { ...own(state), pausedUntil: event.until } : state
    default: {
      const { type, target } = event
      const job = state.jobs.get(target)
      if (!job || (type === 'settle' && job.phase === 'queued')) return state
      const next = own(state)
      forget(next, job)
      if (type === 'settle') {
        sweepBlocked(next, event.now)
        next.spent.push([event.now, event.cost])
        if (event.failed) next.blocked.set(target, event.now + RETRY_BLOCK_MS)
      }
      return next
    }
  }
}

/**
 * Starts all jobs that may start.
 * @param now milliseconds.
 * @param segmentsOf the number of segments in a data request for the target; called when a job is about to fetch, and
 * again while it waits. 0: it needs no request, and so no slots.
 * @returns the same object if nothing may start.
 */
export function advancePrefetching(
  state: Prefetching,
  now: number,
  segmentsOf: (target: string) => number,
): Prefetching {
  if (now < state.pausedUntil) return state
  const next = own(state)
  let changed = next.pausedUntil > 0
  next.pausedUntil = 0
  for (let job; (job = nextStep(next, segmentsOf, spentOf(next, now))); changed = true) {
    if (job.segments > 0) next.spent.push([now, REQUEST_COST])
    next.queues[job.priority].delete(job.target)
    next.active.add(job.target)
    next.jobs.set(job.target, job)
  }
  return changed ? next : state
}

/**
 * When to advance again without an event, in milliseconds: at the end of a pause, and when the budget may have room
 * again.
 */
export function nextWake({ active, pausedUntil, jobs, spent: [oldest] }: Prefetching): number | undefined {
  const wake = pausedUntil || (jobs.size > active.size && oldest && oldest[0] + BUDGET_MS)
  return wake && jobs.size > 0 ? wake : undefined
}

function spentOf({ spent }: OwnPrefetching, now: number): number {
  while (spent[0] && spent[0][0] + BUDGET_MS <= now) spent.shift()
  return spent.reduce((sum, [, cost]) => sum + cost, 0)
}

function createPrefetching(): OwnPrefetching {
  return {
    jobs: new Map(),
    blocked: new Map(),
    pausedUntil: 0,
    spent: [],
    queues: { intent: new Set(), render: new Set(), viewport: new Set() },
    active: new Set(),
  }
}

/** A new outer object around the mutable parts; `NO_PREFETCHES` is shared and never changed. */
function own(state: Prefetching): OwnPrefetching {
  return state === NO_PREFETCHES ? createPrefetching() : { ...(state as OwnPrefetching) }
}

function add(state: Prefetching, target: string, priority: PrefetchPriority, now: number): Prefetching {
  const job = state.jobs.get(target)
  if (job ? rank(priority) >= rank(job.priority) : now < (state.blocked.get(target) ?? now)) return state
  const next = own(state)
  sweepBlocked(next, now)
  if (job) next.queues[job.priority].delete(target)
  if (job?.phase !== 'started' && job?.phase !== 'fetching') next.queues[priority].add(target)
  next.jobs.set(target, { phase: 'queued', segments: 0, extra: false, ...job, target, priority })
  if (next.jobs.size - next.active.size > MAX_QUEUED) {
    const oldest = firstQueued(next, PRIORITIES.toReversed())
    if (oldest) forget(next, oldest)
  }
  return next
}

function rank(priority: PrefetchPriority): number {
  return PRIORITIES.indexOf(priority)
}

function forget(state: OwnPrefetching, { target, priority }: PrefetchJob): void {
  state.jobs.delete(target)
  state.queues[priority].delete(target)
  state.active.delete(target)
}

function sweepBlocked({ blocked }: OwnPrefetching, now: number): void {
  for (const [target, until] of blocked) {
    if (until > now) break
    blocked.delete(target)
  }
}

function firstQueued({ jobs, queues }: Prefetching, priorities: readonly PrefetchPriority[]): PrefetchJob | undefined {
  for (const priority of priorities) for (const target of queues[priority]) return jobs.get(target)
  return undefined
}

function activeJobs({ active, jobs }: Prefetching): PrefetchJob[] {
  return [...active].flatMap((target) => jobs.get(target) ?? [])
}

/** Whether there is room for one more request, beside those that started jobs are about to make. */
function hasBudget(active: readonly PrefetchJob[], spent: number): boolean {
  return active.reduce((sum, { phase }) => sum + (phase === 'started' ? REQUEST_COST : 0), spent) < BUDGET
}

/** The job that may move on, in its next state. */
function nextStep(state: Prefetching, segmentsOf: (target: string) => number, spent: number): PrefetchJob | undefined {
  const active = activeJobs(state)
  const limited = active.filter((job) => !job.extra)
  const extraFree = limited.length === active.length
  const queued = firstQueued(state, PRIORITIES)
  if (queued && limited.length < MAX_ROUTES && (queued.priority === 'intent' || hasBudget(active, spent))) {
    return { ...queued, phase: 'started' }
  }

  let room = MAX_SEGMENTS
  for (const job of limited) room -= job.segments
  for (const priority of PRIORITIES) {
    for (const job of active) {
      if (job.phase !== 'started' || job.priority !== priority) continue
      const segments = segmentsOf(job.target)
      const next = { ...job, phase: 'fetching', segments } as const
      if (job.extra || segments === 0 || segments <= room || room === MAX_SEGMENTS) return next
      if (extraFree && priority === 'intent') return { ...next, extra: true }
      room = 0 // later jobs do not overtake
    }
  }
  return extraFree && queued?.priority === 'intent' ? { ...queued, phase: 'started', extra: true } : undefined
}
