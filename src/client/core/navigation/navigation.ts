/**
 * One navigation at a time, from the click to the new page on screen. Pure: the runner supplies time and requests.
 *
 * | state      | start   | slow       | load       | commit | cancel    | fail   | leave |
 * |------------|---------|------------|------------|--------|-----------|--------|-------|
 * | idle       | loading | -          | -          | -      | -         | -      | -     |
 * | loading    | loading | loading    | committing | -      | cancelled | failed | idle  |
 * | committing | loading | committing | -          | idle   | cancelled | failed | idle  |
 * | cancelled  | loading | -          | -          | -      | -         | -      | -     |
 * | failed     | loading | -          | -          | -      | -         | -      | -     |
 *
 * `-`: nothing happens and the same object is returned. The same applies to every event except `start` with another id
 * than the target's: it belongs to an overtaken navigation. `slow` sets the flag of that name; it stays set until the
 * navigation ends, even through a `start` of the same id, which is how a redirect is followed. `leave` passes it to
 * the browser, which loads a document or a file.
 */
import type { NavigationKind } from '../../react/router-types.ts'

/** Target of a navigation. */
export interface NavigationTarget {
  /** Unique in the page. A redirect keeps the id of its navigation. */
  readonly id: number
  readonly kind: NavigationKind
  /** Pathname, search and hash. */
  readonly href: string
  /** When it started, in milliseconds. */
  readonly since: number
}

/** State of the current navigation. */
export type Navigation =
  | { readonly state: 'idle' }
  | {
      /** `committing`: everything has loaded, and React is rendering. */
      readonly state: 'loading' | 'committing'
      readonly target: NavigationTarget
      /** It has taken `PENDING_DELAY_MS`. */
      readonly slow: boolean
    }
  | { readonly state: 'cancelled'; readonly target: NavigationTarget }
  | {
      readonly state: 'failed'
      readonly target: NavigationTarget
      /** The error. */
      readonly reason: unknown
    }

/** Events of a navigation; see the table at the top of this file. */
export type NavigationEvent =
  | { readonly type: 'start'; readonly target: NavigationTarget }
  | { readonly type: 'slow' | 'load' | 'commit' | 'cancel' | 'leave'; readonly id: number }
  | { readonly type: 'fail'; readonly id: number; readonly reason: unknown }

/** Milliseconds before a navigation counts as pending: faster ones would only flicker. */
export const PENDING_DELAY_MS = 100

/** No navigation: the initial state of a page. */
export const IDLE: Navigation = { state: 'idle' }

/** A navigation that has not ended: loading or committing. */
type RunningNavigation = Extract<Navigation, { readonly slow: boolean }>

/** The navigation, unless it has ended. */
export function runningNavigation(navigation: Navigation): RunningNavigation | undefined {
  return 'slow' in navigation ? navigation : undefined
}

/** Id of the navigation to another page, unless it has ended. */
export function leavingFor(navigation: Navigation): number | undefined {
  const target = runningNavigation(navigation)?.target
  return target?.kind === 'refresh' ? undefined : target?.id
}

/** The next state; the same object if nothing changes. */
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
