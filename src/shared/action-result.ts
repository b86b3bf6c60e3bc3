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

/** Whether an action's state is a refused input. */
export function isInvalidInput(state: unknown): state is InvalidInput {
  return typeof state === 'object' && state !== null && 'kind' in state && state.kind === 'invalid' && 'errors' in state
}
