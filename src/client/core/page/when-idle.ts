/**
 * Runs work when the browser has nothing better to do.
 * @param limitMs after which it runs all the same.
 */
export function whenIdle(window: Window, work: () => void, limitMs: number): void {
  // Safari has no idle callbacks, though the library says so; there, the end of the task must do.
  if ('requestIdleCallback' in window) window.requestIdleCallback(work, { timeout: limitMs })
  else setTimeout(work)
}
