/** Whether this process wants traffic. */
export interface Readiness {
  /** 503 with its reason, or ready. */
  state(): 'starting' | 'ready' | 'draining'
  /** A real page has been rendered through the whole stack. */
  markReady(): void
  /** The process is going: for good. */
  markDraining(): void
}

/** `starting` until told otherwise; `draining` is never left. */
export function createReadiness(): Readiness {
  let state: ReturnType<Readiness['state']> = 'starting'
  return {
    state: () => state,
    markReady() {
      if (state === 'starting') state = 'ready'
    },
    markDraining() {
      state = 'draining'
    },
  }
}
