const DELIVERY_MS = 10_000 // what the server has written in time may be on its way for as long

/**
 * Ends a document that is streamed, for what waits for the rest of it. Chromium leaves one whose connection was lost loading for ever,
 * and tells of one that was stopped only that it is complete. React waits for an event to render the holes itself.
 * @param deadline milliseconds that the server may take.
 */
export function endInTime(window: Window, deadline: number): void {
  const { document } = window
  if (document.readyState !== 'loading') return
  const onChange = (): void => {
    // A document that is read to its end is interactive first.
    if (document.readyState === 'complete') document.dispatchEvent(new Event('DOMContentLoaded'))
  }
  document.addEventListener('readystatechange', onChange, { once: true })
  setTimeout(() => {
    if (document.readyState === 'loading') window.stop()
  }, deadline + DELIVERY_MS)
}
