/** Tells when it ran, so that a reused answer can be told from a fresh one. In ms since the epoch. */
export function loader() {
  return { renderedAt: Date.now() }
}
