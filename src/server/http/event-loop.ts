/** Clock and scheduler of what takes turns in the event loop; another one in tests. */
export interface EventLoop {
  /** Monotonic milliseconds. */
  now(): number
  /** Calls back in the next turn of the event loop, after its I/O. */
  nextTurn(run: () => void): void
  /** Calls back in the same turn, after all pending promise reactions. */
  afterwards(run: () => void): void
}

/** The process's own. */
export const EVENT_LOOP: EventLoop = {
  now: () => performance.now(),
  nextTurn: (run) => void setImmediate(run),
  // A tick requested inside a tick runs before waiting promises, so start from a microtask.
  afterwards: (run) => queueMicrotask(() => process.nextTick(run)),
}
