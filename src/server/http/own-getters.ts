/**
 * Makes getters of a class own properties of its instances, since those who wrap a loader or a handler hand on
 * `{ ...args }`. All instances share the functions. A literal with getters makes new ones each time, which V8 puts among
 * the old objects at once, and what they close over, the request with all that hangs on it, lives until the next full
 * collection (docs/decisions/0028).
 * @param prototype of the class.
 * @returns to be called for each instance, at the end of its constructor.
 */
export function ownGetters<Instance extends object>(
  prototype: Instance,
  names: readonly (keyof Instance)[],
): (instance: Instance) => void {
  const own = names.map((name) => {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
    if (descriptor?.get === undefined) throw new TypeError(`${String(name)} is no getter of this class`)
    return [name, { ...descriptor, enumerable: true }] as const
  })
  return (instance) => {
    for (const [name, descriptor] of own) Object.defineProperty(instance, name, descriptor)
  }
}
