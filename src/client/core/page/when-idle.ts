/**
 * Runs work when the browser is idle.
 * @param limitMs after which it runs in any case.
 */
export function whenIdle(window: Window, work: () => void, limitMs: number): void {
  // Safari has no idle callbacks, although the types say so; there, it runs in the next task.
  if (window.requestIdleCallback) window.requestIdleCallback(work, { timeout: limitMs })
  else setTimeout(work)
}
