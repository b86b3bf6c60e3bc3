import type { PageTexts } from '../../../shared/texts.ts'
import { checkValueAsync, type CheckedValue, type Schema } from '../../../shared/schema.ts'

/**
 * Checks what a visitor sends as a body: the input of an action or of a handler.
 * @param texts of the page, for the fault that there are too many. Default: English.
 * @throws what the schema throws.
 */
export async function checkInput(
  schema: Schema,
  input: unknown,
  texts?: () => Pick<PageTexts, 'tooManyFaults'>,
): Promise<CheckedValue> {
  return checkValueAsync(schema, input).catch((thrown: unknown) => tooManyIssues(thrown, texts?.().tooManyFaults))
}

/** Schemas collect the faults of a list by spreading them as arguments: 400 kB of invalid input overflow the stack. */
function tooManyIssues(thrown: unknown, message = 'Too much of this does not fit.'): CheckedValue {
  if (!(thrown instanceof RangeError) || !/call stack/i.test(thrown.message)) throw thrown
  return { issues: [{ message }] }
}
