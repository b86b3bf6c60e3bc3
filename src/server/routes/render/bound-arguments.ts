/** Purpose of the signature of bound arguments. */
export function argumentsPurpose(actionId: string): string {
  return `action ${actionId}`
}

/** Bound arguments in JSON: the same text that the browser sends in a call. */
export function listOf(bound: readonly unknown[]): string {
  return `[${bound.map(jsonOf).join()}]`
}

/**
 * Dates become strings, and `undefined` members are dropped. A state that JSON cannot represent is left out: the form
 * still works.
 */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return 'null'
  }
}
