/** Result of a call whose input does not fit the action's schema. */
export interface InvalidInput {
  readonly kind: 'invalid'
  /** Messages by name of the field in the form; `''` for faults of no particular field. */
  readonly errors: Readonly<Record<string, readonly string[]>>
  /** Submitted texts by name of the field, for `defaultValue`; without secret fields. */
  readonly values: Readonly<Record<string, string | readonly string[]>>
  /** Names of the file fields in which the user must choose files again. */
  readonly omitted: readonly string[]
}

/** Result of a call whose handler has failed, of an action that declares `failure: 'state'`. */
export interface FailedAction extends Pick<InvalidInput, 'values' | 'omitted'> {
  readonly kind: 'failed'
  /** Identifies the failure in the log and in the report; nothing else of it reaches the browser. */
  readonly digest: string
}

/** Whether an action's state is a refused input. */
export function isInvalidInput(state: unknown): state is InvalidInput {
  return isState(state, 'invalid', 'errors')
}

/** Whether a state has what was typed: it is shown, and never sent back to the server. */
export function hasTypedInput(state: unknown): state is InvalidInput | FailedAction {
  return isInvalidInput(state) || isState(state, 'failed', 'digest')
}

function isState(state: unknown, kind: string, member: string): boolean {
  return typeof state === 'object' && state !== null && 'kind' in state && state.kind === kind && member in state
}
