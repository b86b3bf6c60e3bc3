/** Whether a value is an object whose members can be looked at. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is a text, and `''` for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
