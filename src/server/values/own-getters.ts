/**
 * Copies getters of a class to its instances as own properties, because wrappers of loaders and handlers pass on `{
 * ...args }`. All instances share the functions. A literal with getters creates new functions each time, which V8
 * allocates in old space: what they close over, the request and everything it references, would live until the next
 * full collection (docs/decisions/0028).
 * @param prototype of the class.
 * @returns a function to call at the end of each instance's constructor.
 */
export function ownGetters<Instance extends object>(
  prototype: Instance,
  names: readonly (keyof Instance)[],
): (instance: Instance) => void {
  const own = names.map((name) => {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
    if (descriptor?.get === undefined) throw new TypeError(`${String(name)} is not a getter of this class`)
    return [name, { ...descriptor, enumerable: true }] as const
  })
  return (instance) => {
    for (const [name, descriptor] of own) Object.defineProperty(instance, name, descriptor)
  }
}
