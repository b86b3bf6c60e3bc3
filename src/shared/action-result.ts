/** What an action's caller gets when the input does not fit the schema. */
export interface InvalidInput {
  readonly kind: 'invalid'
  /** Messages by name of the field, as it stands in the form; `''` for those that belong to none. */
  readonly errors: Readonly<Record<string, readonly string[]>>
  /** What was typed, by name of the field, for `defaultValue`; without what the action calls secret. */
  readonly values: Readonly<Record<string, string | readonly string[]>>
  /** Names of the fields whose files have to be chosen again. */
  readonly omitted: readonly string[]
}

/** Whether an action's state says that its input was refused. */
export function isInvalidInput(state: unknown): state is InvalidInput {
  return typeof state === 'object' && state !== null && 'kind' in state && state.kind === 'invalid' && 'errors' in state
}
