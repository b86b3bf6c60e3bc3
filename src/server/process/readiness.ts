/** Whether this process wants traffic. */
export interface Readiness {
  /** 503 with its reason, or ready. */
  state(): 'starting' | 'ready' | 'draining'
  /** A real page has been rendered through the whole stack. */
  markReady(): void
  /** The process is going: for good. */
  markDraining(): void
  /**
   * Calls back when the process is going, at once if it is already: for what would last for ever.
   * @returns takes the listener away.
   */
  onDraining(listener: () => void): () => void
}

/** `starting` until told otherwise; `draining` is never left. */
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
