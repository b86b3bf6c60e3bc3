/** Whether this process takes traffic. */
export interface Readiness {
  state(): 'starting' | 'ready' | 'draining'
  /** Called when a real page has been rendered through the whole stack. */
  markReady(): void
  /** Called when the process starts to end. */
  markDraining(): void
  /**
   * Calls back when the process starts to end, or at once if it has: for work that never ends by itself.
   * @returns removes the listener.
   */
  onDraining(listener: () => void): () => void
}

/** Starts as `starting`; `draining` is final. */
export function createReadiness(): Readiness {
  let state: ReturnType<Readiness['state']> = 'starting'
  const listeners = new Set<() => void>()
  return {
    state: () => state,
    markReady() {
      if (state === 'starting') state = 'ready'
    },
    markDraining() {
      state = 'draining'
      for (const listener of listeners) listener()
      listeners.clear()
    },
    onDraining(listener) {
      if (state === 'draining') listener()
      else listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
