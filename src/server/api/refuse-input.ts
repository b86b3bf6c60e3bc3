/** Thrown by `refuseInput`. */
export class RefusedInputSignal extends Error {
  override readonly name = 'RefusedInputSignal'
  readonly errors: Readonly<Record<string, readonly string[]>>

  constructor(errors: Readonly<Record<string, string | readonly string[]>>) {
    super('refuseInput() was called outside of the handler of an action')
    this.errors = Object.fromEntries(
      Object.entries(errors).map(([field, faults]) => [field, typeof faults === 'string' ? [faults] : faults]),
    )
  }
}

/**
 * Refuses the input of an action for what no schema can know, such as a name that is taken: the form gets the errors and
 * what was typed, as from the action's schema, and the status is 422. Call it in the handler of an action.
 * @param errors one message or several by the name of the field, as in the form; `''` for those of no field.
 */
export function refuseInput(errors: Readonly<Record<string, string | readonly string[]>>): never {
  throw new RefusedInputSignal(errors)
}
