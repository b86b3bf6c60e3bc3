/** What bound arguments are signed for. */
export function argumentsPurpose(actionId: string): string {
  return `action ${actionId}`
}

/** What is bound, in JSON: as the browser says it in a call. */
export function listOf(bound: readonly unknown[]): string {
  return `[${bound.map(jsonOf).join()}]`
}

/**
 * A date is its text, and a member that is `undefined` is not there at all. A state that JSON cannot say is left out: the
 * form works all the same.
 */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return 'null'
  }
}
