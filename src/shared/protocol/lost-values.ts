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
export function findLostValue(value: unknown, path = ''): LostValue | undefined {
  return find(value, { path, depth: 0, isStrict: false })
}

/**
 * Finds also what is another value in the browser than on the server, without being lost: the result of a `toJSON`, and
 * members of maps and sets that `findLostValue` does not look at.
 */
export function findChangedValue(value: unknown, path = ''): LostValue | undefined {
  return find(value, { path, depth: 0, isStrict: true })
}

interface Place {
  readonly path: string
  readonly depth: number
  /** Whether a changed value counts as well. */
  readonly isStrict: boolean
}

function find(value: unknown, place: Place): LostValue | undefined {
  const { path, depth, isStrict } = place
  if (typeof value === 'function') return { path, what: 'a function' }
  if (typeof value === 'symbol') {
    return Symbol.keyFor(value) === undefined ? { path, what: 'a symbol of its own' } : undefined
  }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined
  if (Array.isArray(value)) return firstOf(value.entries(), (index) => `[${index}]`, place)
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null
  if (prototype === Object.prototype || prototype === null) {
    return firstOf(Object.entries(value), memberPath, place)
  }
  const name = prototype.constructor?.name ?? 'an unnamed class'
  if (isStrict && value instanceof Map) return firstOf(value, (key) => `.get(${keyText(key)})`, place)
  if (isStrict && value instanceof Set) return firstOf([...value].entries(), (index) => `{${index}}`, place)
  if (isStrict && !TRAVELS.has(name) && 'toJSON' in value && !ArrayBuffer.isView(value)) {
    return { path, what: `an instance of ${name}, which arrives as the result of its toJSON()` }
  }
  if (TRAVELS.has(name) || value instanceof Error || ArrayBuffer.isView(value) || 'toJSON' in value) return undefined
  return { path, what: `an instance of ${name}` }
}

function firstOf<Key>(
  entries: Iterable<readonly [Key, unknown]>,
  stepOf: (key: Key) => string,
  { path, depth, isStrict }: Place,
): LostValue | undefined {
  for (const [key, member] of entries) {
    const found = find(member, { path: path + stepOf(key), depth: depth + 1, isStrict })
    if (found !== undefined) return found
  }
  return undefined
}

function keyText(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : typeof key === 'number' ? String(key) : '…'
}

function memberPath(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
