import { reportFailure } from '../render/failure.ts'
import type { RequestContext } from './context.ts'

/** Work that outlives the answers it was begun for. */
export interface Afterwards {
  /** Begins it. What it throws is logged and reported as a failure of its request. */
  run(work: () => unknown, context: RequestContext): void
  /** Settles when nothing is left, also of what is begun meanwhile. Does not reject. */
  settled(): Promise<void>
}

/** Keeps account of the work of one server. */
export function createAfterwards(): Afterwards {
  const open = new Set<Promise<void>>()

  async function attempt(work: () => unknown, context: RequestContext): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      reportFailure(thrown, context, 'after')
    }
  }

  return {
    run(work, context) {
      const task = attempt(work, context).finally(() => open.delete(task))
      open.add(task)
    },
    async settled() {
      while (open.size > 0) await Promise.all(open)
    },
  }
}
