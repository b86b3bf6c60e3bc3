import { isIndex, isSparse, tagOf } from './value-frames.ts'

/** A value that would not arrive in the browser unchanged. */
interface LostValue {
  /** Path to it: `data["/lab#page"].rows[3].format`. */
  readonly path: string
  /** Readable description: "a function", "an instance of Price". */
  readonly what: string
}

/** Deeper data is not checked; this is a help during development, not a guard. */
const MAX_DEPTH = 500

/** Lists with members beside the numbered ones are results of `match`, and short. */
const MAX_CHECKED_KEYS = 1_000

/** Kinds of nodes whose own members are neither their content, as for bytes, nor secret, as for errors. */
const BARE = new Set(['', 'Date', 'RegExp', 'URL', 'Map', 'Set'])

/**
 * Finds a function, an unregistered symbol, an instance of a class, or a member that the encoder does not read: it would
 * silently drop them, or the methods of the instance. Walks over all values, so only development runs it.
 */
export function findLostValue(value: unknown, path = ''): LostValue | undefined {
  return find(value, { path, depth: 0, isStrict: false, seen: new Set() })
}

/**
 * Finds also what is another value in the browser than on the server, without being lost: the result of a `toJSON`, and
 * the position of a regular expression.
 */
export function findChangedValue(value: unknown, path = ''): LostValue | undefined {
  return find(value, { path, depth: 0, isStrict: true, seen: new Set() })
}

interface Place {
  readonly path: string
  readonly depth: number
  /** Whether a changed value counts as well. */
  readonly isStrict: boolean
  /** Objects that were looked at. */
  readonly seen: Set<object>
}

function find(value: unknown, place: Place): LostValue | undefined {
  const { path, depth, isStrict, seen } = place
  if (typeof value === 'function') return { path, what: 'a function' }
  if (typeof value === 'symbol') {
    return Symbol.keyFor(value) === undefined ? { path, what: 'a symbol of its own' } : undefined
  }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || seen.has(value)) return undefined
  seen.add(value)
  const tag = tagOf(value)
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null
  const name = prototype === null ? 'Object' : (prototype.constructor?.name ?? 'an unnamed class')
  if (tag === undefined) {
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      const isClass = prototype !== Object.prototype && prototype !== null
      return isStrict && isClass
        ? { path, what: `an instance of ${name}, which arrives as the result of its toJSON()` }
        : undefined
    }
    if (prototype !== Object.prototype && prototype !== null) return { path, what: `an instance of ${name}` }
    return symbolMember(value, path) ?? firstOf(Object.entries(value), memberPath, place)
  }
  if (!BARE.has(tag)) return undefined
  const extra = isLong(value) ? undefined : Object.keys(value).find((key) => tag !== '' || !isIndex(key))
  if (extra !== undefined) return { path: path + memberPath(extra), what: `a member of an instance of ${name}` }
  if (isStrict && value instanceof RegExp && value.lastIndex !== 0) {
    return { path, what: `a regular expression with lastIndex ${value.lastIndex}, which arrives with 0` }
  }
  if (tag === '') return firstOf(membersOf(value as readonly unknown[]), (index) => `[${index}]`, place)
  if (value instanceof Map) return firstOf(entriesOf(value), (key) => key, place)
  return value instanceof Set ? firstOf([...value].entries(), (index) => `{${index}}`, place) : undefined
}

function symbolMember(value: object, path: string): LostValue | undefined {
  const key = Object.getOwnPropertySymbols(value).find((symbol) => Object.propertyIsEnumerable.call(value, symbol))
  return key === undefined ? undefined : { path: `${path}[${String(key)}]`, what: 'a member with a symbol as its key' }
}

/** Without holes, which cost nothing, and without a list of all members, which would outlive the request. */
function membersOf(list: readonly unknown[]): Iterable<readonly [number | string, unknown]> {
  return isSparse(list) ? Object.entries(list) : list.entries()
}

/** Keys of a map and its values, each with its path. */
function* entriesOf(map: ReadonlyMap<unknown, unknown>): Iterable<readonly [string, unknown]> {
  for (const [key, member] of map) {
    yield [`.keys(){${keyText(key)}}`, key]
    yield [`.get(${keyText(key)})`, member]
  }
}

function firstOf<Key>(
  entries: Iterable<readonly [Key, unknown]>,
  stepOf: (key: Key) => string,
  { path, depth, ...rest }: Place,
): LostValue | undefined {
  for (const [key, member] of entries) {
    if (!mayBeLost(member)) continue
    const found = find(member, { ...rest, path: path + stepOf(key), depth: depth + 1 })
    if (found !== undefined) return found
  }
  return undefined
}

/** A list of keys would be as long. */
function isLong(value: object): boolean {
  return Array.isArray(value) && value.length > MAX_CHECKED_KEYS && !isSparse(value)
}

function mayBeLost(value: unknown): boolean {
  return typeof value === 'function' || typeof value === 'symbol' || (typeof value === 'object' && value !== null)
}

function keyText(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : typeof key === 'number' ? String(key) : '…'
}

function memberPath(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
