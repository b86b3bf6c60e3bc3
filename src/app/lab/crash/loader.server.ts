/** Fails before anything has been sent. The text must never reach a browser. */
export function loader(): never {
  throw new Error('The lab loader failed on purpose')
}
