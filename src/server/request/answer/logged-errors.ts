import { describeThrown } from './failure.ts'

const MOST_DEPTH = 3 // of objects in a field
const MOST_ITEMS = 100 // of a list

/**
 * Describes the errors among the fields of a log line, as `describeThrown` does: JSON would leave them empty. Objects without
 * one are returned as they are.
 */
export function describeErrors(fields: Record<string, unknown>): Record<string, unknown> {
  try {
    return described(fields, 0) as Record<string, unknown>
  } catch {
    return fields // a getter has thrown; the logger says so
  }
}

function described(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return describeThrown(value)
  if (depth > MOST_DEPTH) return value
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item: unknown) => described(item, depth + 1))
    return items.every((item, index) => Object.is(item, value[index])) ? value : items
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return value
  const entries = Object.entries(value).map(([name, member]) => [name, described(member, depth + 1), member] as const)
  return entries.every(([, one, member]) => Object.is(one, member))
    ? value
    : Object.fromEntries(entries.map(([name, one]) => [name, one]))
}
