/**
 * How an action is called. Its version is that of the route data in its answer.
 *
 * A form without script posts to the page's own URL with `_action=<id>.<form number>` in its query, urlencoded or
 * multipart. Fields whose name begins with `$ACTION_` are the runtime's and never part of the input.
 *
 * The client router posts to the URL of the page's route data, with `_action=<id>` and the segments on screen in its
 * query. The body is a form, or JSON: `ActionArguments`. The answer is route data; the first segment, with the id
 * `ACTION_RESULT_ID`, is an `ActionAnswer`.
 */

import type { FailedAction } from '../action-result.ts'

/** Query parameter that names the action. Pages cannot use this name. */
export const ACTION_PARAM = '_action'

/** Prefix of the runtime's own field names. */
export const FIELD_PREFIX = '$ACTION_'

/** Its value has no meaning, but React requires a field. */
export const REFERENCE_FIELD = '$ACTION_REF'

/** The action's id, for clients that post a page's form to the page's plain URL. */
export const ID_FIELD = '$ACTION_ID'

/**
 * The arguments before the input. In a rendered form: signed JSON, and the name ends with a number. From the client
 * router: JSON, without a number.
 */
export const ARGUMENTS_FIELD = '$ACTION_ARGS'

/** React's key of the `useActionState` to which a form belongs. */
export const KEY_FIELD = '$ACTION_KEY'

/** Calls with an equal key run once within ten minutes. */
export const IDEMPOTENCY_FIELD = '$ACTION_ONCE'

/** The same from the client router, as a header. */
export const IDEMPOTENCY_HEADER = 'X-Millrace-Once'

/**
 * From the client router: the marks of the page's sessions, as `session-marks.ts` has them, separated by spaces. If the call finds
 * the session of a different user, it is refused, and the head of the answer says `others`: that user has signed in by a
 * document whose scripts have not run, so the page does not know it.
 */
export const PAGE_SESSIONS_HEADER = 'X-Millrace-Sessions'

/** Id of the record with the result. */
export const ACTION_RESULT_ID = '#action'

/** Body of a call without a form. */
export interface ActionArguments {
  /** The arguments before the input: bound ones, and the state of `useActionState`. */
  readonly args?: readonly unknown[]
  readonly input?: unknown
}

/** Result of a call for the client router. */
export interface ActionAnswer {
  /** The handler's result. */
  readonly value?: unknown
  /** Faults of the input: messages by name of the field. */
  readonly errors?: Readonly<Record<string, readonly string[]>>
  /** With empty `errors`: the handler has failed, and the caller shows that as its state. */
  readonly failed?: Pick<FailedAction, 'kind' | 'digest'>
  /** With `errors`: names of the action's secret fields. */
  readonly secret?: readonly string[]
  /** Targets that the action wants dropped from caches. */
  readonly revalidate?: readonly string[]
  /** With `revalidate`: when they were dropped, at the latest, as in `drops-event.ts`. Absent if that is unknown. */
  readonly droppedAt?: number
  /** The handler has refused or failed; the outcome that follows has the details. */
  readonly thrown?: true
}
