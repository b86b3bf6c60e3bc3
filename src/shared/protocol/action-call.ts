/**
 * How an action is called. Version of the route data it is answered with.
 *
 * A form without script posts to the page's own URL with `_action=<id>.<form number>` in its query, urlencoded or
 * multipart. Fields whose name begins with `$ACTION_` are the runtime's and never part of the input.
 *
 * The client router posts to the URL of the page's route data, with `_action=<id>` and the segments on screen in its
 * query. The body is a form, or JSON: `ActionArguments`. The answer is route data; the first segment, of id
 * `ACTION_RESULT_ID`, is an `ActionAnswer`.
 */

/** Name of the query's parameter that names the action. Pages cannot have one of this name. */
export const ACTION_PARAM = '_action'

/** Names of fields that begin with this are the runtime's. */
export const FIELD_PREFIX = '$ACTION_'

/** Without meaning: React wants a field. */
export const REFERENCE_FIELD = '$ACTION_REF'

/** The action's id, for clients that post a page's form to the page's plain URL. */
export const ID_FIELD = '$ACTION_ID'

/**
 * What stands in front of the input. Of a rendered form: signed JSON, and its number follows the name. From the client
 * router: JSON, without a number.
 */
export const ARGUMENTS_FIELD = '$ACTION_ARGS'

/** React's name for which `useActionState` of a page a form belongs to. */
export const KEY_FIELD = '$ACTION_KEY'

/** Calls with an equal key run once within ten minutes. */
export const IDEMPOTENCY_FIELD = '$ACTION_ONCE'

/** The same from the client router, as a header. */
export const IDEMPOTENCY_HEADER = 'X-Millrace-Once'

/** Id of the record that carries the result. */
export const ACTION_RESULT_ID = '#action'

/** Body of a call without a form. */
export interface ActionArguments {
  /** What stands in front of the input: bound arguments, and the state of `useActionState`. */
  readonly args?: readonly unknown[]
  readonly input?: unknown
}

/** What the client router is told of a call. */
export interface ActionAnswer {
  /** What the handler returned. */
  readonly value?: unknown
  /** Why the input was refused: messages by name of the field. */
  readonly errors?: Readonly<Record<string, readonly string[]>>
  /** With `errors`: names of the fields that the action calls secret. */
  readonly secret?: readonly string[]
  /** What the action wants dropped from caches. */
  readonly revalidate?: readonly string[]
  /** The handler has refused or failed: how, says the outcome that follows. */
  readonly thrown?: true
}
