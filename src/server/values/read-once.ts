/**
 * Copies a value and replaces each getter with its result, so that all readers see the same. Lists, maps, sets and plain
 * objects are copied; everything else is kept. A getter that throws stays a getter, and the sender meets its error.
 */
export function readOnce(value: unknown): unknown {
  /** One entry for each object of this value. */
  const copies = new Map<object, object>()
  // A list instead of recursion: depth costs no stack.
  const open: [from: object, to: object][] = []

  function copyOf(member: unknown): unknown {
    if (typeof member !== 'object' || member === null) return member
    const known = copies.get(member)
    if (known !== undefined) return known
    const copy = emptyLike(member)
    if (copy === undefined) return member
    copies.set(member, copy)
    open.push([member, copy])
    return copy
  }

  const root = copyOf(value)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, to] = next
    if (from instanceof Map)
      for (const [key, member] of from) (to as Map<unknown, unknown>).set(copyOf(key), copyOf(member))
    else if (from instanceof Set) for (const member of from) (to as Set<unknown>).add(copyOf(member))
    else for (const key of Object.keys(from)) Object.defineProperty(to, key, readMember(from, key, copyOf))
  }
  return root
}

function emptyLike(member: object): object | undefined {
  if (Array.isArray(member)) return Object.assign([], { length: member.length })
  const prototype: unknown = Object.getPrototypeOf(member)
  if (prototype === Object.prototype || prototype === null) return Object.create(prototype) as object
  if (prototype === Map.prototype) return new Map()
  return prototype === Set.prototype ? new Set() : undefined
}

function readMember(from: object, key: string, copyOf: (member: unknown) => unknown): PropertyDescriptor {
  const shape = { configurable: true, enumerable: true }
  const read = (): unknown => (from as Record<string, unknown>)[key]
  try {
    return { ...shape, writable: true, value: copyOf(read()) }
  } catch {
    return { ...shape, get: read }
  }
}
