/** A frame of the same site has the storage of its page. @returns its place in the frames around it; empty for a page. */
export function placeOf(window: Window): string {
  const { parent } = window
  return !parent || parent === window ? '' : `${placeOf(parent)} ${Array.prototype.indexOf.call(parent, window)}`
}
