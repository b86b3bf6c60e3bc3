/**
 * One navigation at a time, from the click to the new page on the screen. Pure: the runner brings time and requests.
 *
 * | state      | start   | slow       | load       | commit | cancel    | fail   | leave |
 * |------------|---------|------------|------------|--------|-----------|--------|-------|
 * | idle       | loading | -          | -          | -      | -         | -      | -     |
 * | loading    | loading | loading    | committing | -      | cancelled | failed | idle  |
 * | committing | loading | committing | -          | idle   | cancelled | failed | idle  |
 * | cancelled  | loading | -          | -          | -      | -         | -      | -     |
 * | failed     | loading | -          | -          | -      | -         | -      | -     |
 *
 * `-`: nothing happens and the same object is returned. So it is for every event but `start` that carries another id
 * than the target's: late news of a navigation that has been overtaken. `slow` sets the flag of that name; it stays set
 * until the navigation ends, and also through a `start` of the same id, which is how a redirect is followed. `leave` gives it
 * to the browser, which loads a document or a file.
 */
import type { NavigationKind } from '../../react/router-types.ts'

/** Where a navigation leads. */
export interface NavigationTarget {
  /** Unique in the page. A redirect keeps the id of the navigation that met it. */
  readonly id: number
  readonly kind: NavigationKind
  /** Pathname, search and hash. */
  readonly href: string
  /** When it started, in milliseconds. */
  readonly since: number
}

/** Where the present navigation stands. */
export type Navigation =
  | { readonly state: 'idle' }
  | {
      /** `committing`: all is here, and React is at work. */
      readonly state: 'loading' | 'committing'
      readonly target: NavigationTarget
      /** It has taken `PENDING_DELAY_MS`. */
      readonly slow: boolean
    }
  | { readonly state: 'cancelled'; readonly target: NavigationTarget }
  | {
      readonly state: 'failed'
      readonly target: NavigationTarget
      /** What was thrown. */
      readonly reason: unknown
    }

/** What may happen to a navigation; see the table in the head of this file. */
export type NavigationEvent =
  | { readonly type: 'start'; readonly target: NavigationTarget }
  | { readonly type: 'slow' | 'load' | 'commit' | 'cancel' | 'leave'; readonly id: number }
  | { readonly type: 'fail'; readonly id: number; readonly reason: unknown }

/** Milliseconds before a navigation counts as pending: what is faster would only flicker. */
export const PENDING_DELAY_MS = 100

/** No navigation: the state a page begins in. */
export const IDLE: Navigation = { state: 'idle' }

/** A navigation that has not ended: loading or committing. */
type RunningNavigation = Extract<Navigation, { readonly slow: boolean }>

/** The navigation, unless it has ended. */
export function runningNavigation(navigation: Navigation): RunningNavigation | undefined {
  return 'slow' in navigation ? navigation : undefined
}

/** The next state; the same object where nothing changes. */
export function reduceNavigation(navigation: Navigation, event: NavigationEvent): Navigation {
  const running = runningNavigation(navigation)
  const current = running?.target.id === (event.type === 'start' ? event.target.id : event.id) ? running : undefined
  if (event.type === 'start') return { state: 'loading', target: event.target, slow: current?.slow ?? false }
  if (current === undefined) return navigation
  const { state, target, slow } = current
  switch (event.type) {
    case 'slow':
      return slow ? current : { state, target, slow: true }
    case 'load':
      return state === 'loading' ? { state: 'committing', target, slow } : current
    case 'commit':
      return state === 'committing' ? IDLE : current
    case 'leave':
      return IDLE
    case 'cancel':
      return { state: 'cancelled', target }
    case 'fail':
      return { state: 'failed', target, reason: event.reason }
  }
}
