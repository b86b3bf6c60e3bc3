/** The storage of this tab; `undefined` if the browser forbids it, which it does by throwing. */
export function sessionStorageOf(window: Window): Storage | undefined {
  try {
    return window.sessionStorage
  } catch {
    return undefined
  }
}
