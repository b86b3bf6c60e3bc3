import type { RawSearch } from '../../shared/raw-search.ts'

/** Records which search params are read. */
export interface SearchListener {
  /** One param was read, or checked for. */
  useParam(key: string): void
  /** All params were read. */
  useAll(): void
}

/** The same search params, reporting each read. */
export function trackSearch(search: RawSearch, listener: SearchListener): RawSearch {
  const note = (key: string | symbol): void => {
    if (typeof key === 'string') listener.useParam(key)
  }
  return new Proxy(search, {
    get(target, key) {
      note(key)
      return Reflect.get(target, key) as unknown
    },
    has(target, key) {
      note(key)
      return Reflect.has(target, key)
    },
    getOwnPropertyDescriptor(target, key) {
      note(key)
      return Reflect.getOwnPropertyDescriptor(target, key)
    },
    ownKeys(target) {
      listener.useAll()
      return Reflect.ownKeys(target)
    },
  })
}

/** Whether the search params object itself is part of a value: a reader of the value then reads all params. */
export function holdsSearch(value: unknown, search: RawSearch): boolean {
  const seen = new Set<object>()
  const open: object[] = []
  // One by one: spreading a list of 200,000 as arguments overflows the stack.
  const add = (member: unknown): void => {
    if (typeof member === 'object' && member !== null) open.push(member)
  }
  add(value)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === search) return true
    if (seen.has(next)) continue
    seen.add(next)
    if (Array.isArray(next) || next instanceof Set) next.forEach(add)
    else if (next instanceof Map) {
      next.forEach((member, key) => {
        add(key)
        add(member)
      })
    } else if (isPlain(next)) Object.values(next).forEach(add)
  }
  return false
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
