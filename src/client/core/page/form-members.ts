/**
 * The members of an element: those of a form are hidden by fields of the same name (`<input name="closest">`), even its
 * methods. Methods are bound. Not for comparisons: it is a different object than the element.
 */
export function unhidden<Some extends Element>(element: Some): Some {
  // A form's prototype is the only way to them.
  const prototype = Object.getPrototypeOf(element) as object
  return new Proxy({} as Some, {
    get(_, name) {
      const member = Reflect.get(prototype, name, element) as { bind?: (element: Some) => unknown } | undefined
      return member?.bind?.(element) ?? member
    },
  })
}
