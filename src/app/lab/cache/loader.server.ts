/** Returns when it ran, so that a cached answer differs from a new one. In ms since the epoch. */
export function loader() {
  return { renderedAt: Date.now() }
}
