/** A value that would not arrive in the browser as it left the server. */
export interface LostValue {
  /** Where it is: `data["/lab#page"].rows[3].format`. */
  readonly path: string
  /** What it is, for a person: "a function", "an instance of Price". */
  readonly what: string
}

/** Classes whose instances arrive as themselves; those of bytes are asked for below. The list is `value-frames`'. */
const TRAVELS = new Set(['Date', 'RegExp', 'URL', 'Map', 'Set', 'Error', 'Promise', 'ArrayBuffer'])

/** Data deeper than this is looked at no further; the check is a help while developing, not a guard. */
const MAX_DEPTH = 20

/**
 * Looks for a function, a symbol without a key, or an instance of a class: the encoder would drop the first two and
 * strip the last of its methods, silently. Costs a walk over all values, so only development runs it.
 */
export function findLostValue(value: unknown, path = '', depth = 0): LostValue | undefined {
  if (typeof value === 'function') return { path, what: 'a function' }
  if (typeof value === 'symbol') {
    return Symbol.keyFor(value) === undefined ? { path, what: 'a symbol of its own' } : undefined
  }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined
  if (Array.isArray(value)) return firstLost(value.entries(), (index) => `${path}[${index}]`, depth)
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null
  if (prototype === Object.prototype || prototype === null) {
    return firstLost(Object.entries(value), (key) => path + memberPath(key), depth)
  }
  const name = prototype.constructor?.name ?? 'an unnamed class'
  if (TRAVELS.has(name) || value instanceof Error || ArrayBuffer.isView(value) || 'toJSON' in value) return undefined
  return { path, what: `an instance of ${name}` }
}

function firstLost<Key>(
  entries: Iterable<readonly [Key, unknown]>,
  pathOf: (key: Key) => string,
  depth: number,
): LostValue | undefined {
  for (const [key, member] of entries) {
    const lost = findLostValue(member, pathOf(key), depth + 1)
    if (lost !== undefined) return lost
  }
  return undefined
}

function memberPath(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
