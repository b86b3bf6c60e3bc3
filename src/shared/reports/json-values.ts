/** Whether a value is an object whose members can be read. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is a string, otherwise `''`. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A tag of an event, `''` if it has none. The service accepts tags as an object and as pairs. */
export function tagOf(tags: unknown, name: string): string {
  if (Array.isArray(tags)) {
    const pair: unknown = tags.find((entry) => Array.isArray(entry) && entry[0] === name)
    return Array.isArray(pair) ? textOf(pair[1]) : ''
  }
  return isRecord(tags) ? textOf(tags[name]) : ''
}
