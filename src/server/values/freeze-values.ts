/**
 * Freezes plain objects and lists, however deep, so that nobody changes what others get too. What `Object.freeze` does not
 * keep from changing (`Map`, `Date`, bytes) stays as it is, and what is in it is frozen.
 * @returns promises in the value: each settles when what it has brought is frozen. React can then read it at once.
 */
export function freezeValues(root: unknown): readonly Promise<unknown>[] {
  const promises: Promise<unknown>[] = []
  const open = [root]
  const seen = new Set<unknown>()
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (value instanceof Promise) promises.push(value.then(settle.bind(undefined, value)))
    else if (value instanceof Map) open.push(...value.keys(), ...value.values())
    else if (value instanceof Set) open.push(...value)
    else if (!ArrayBuffer.isView(value)) open.push(...Object.values(Object.freeze(value)))
  }
  return promises
}

/** React reads a promise with these members without waiting a turn for it. */
function settle(promise: Promise<unknown>, value: unknown): Promise<unknown> {
  Object.assign(promise, { status: 'fulfilled', value })
  return Promise.all(freezeValues(value))
}
