const DELIVERY_MS = 10_000 // time for the last bytes to arrive

/**
 * Ends a streamed document whose rest does not arrive. If the connection is lost, Chromium stays in the loading state
 * forever, and reports a stopped document only as complete. React waits for an event before it renders missing content
 * itself.
 * @param deadline milliseconds that the server may take.
 */
export function endInTime(window: Window, deadline: number): void {
  const { document } = window
  if (document.readyState !== 'loading') return
  const onChange = (): void => {
    // A completely read document becomes interactive first.
    if (document.readyState === 'complete') document.dispatchEvent(new Event('DOMContentLoaded'))
  }
  document.addEventListener('readystatechange', onChange, { once: true })
  setTimeout(() => {
    if (document.readyState === 'loading') window.stop()
  }, deadline + DELIVERY_MS)
}
