/** A value that would not arrive in the browser unchanged. */
export interface LostValue {
  /** Path to it: `data["/lab#page"].rows[3].format`. */
  readonly path: string
  /** Readable description: "a function", "an instance of Price". */
  readonly what: string
}

/** Classes whose instances arrive unchanged; byte classes are checked below. The list is that of `value-frames`. */
const TRAVELS = new Set(['Date', 'RegExp', 'URL', 'Map', 'Set', 'Error', 'Promise', 'ArrayBuffer'])

/** Deeper data is not checked; this is a help during development, not a guard. */
const MAX_DEPTH = 20

/**
 * Finds a function, an unregistered symbol, or an instance of a class: the encoder would silently drop the first two
 * and remove the methods of the last. Walks over all values, so only development runs it.
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
