import { reportFailure } from './failure.ts'
import type { RequestContext, Afterwards } from '../context.ts'

/** Tracks the work of one server that continues after its answers. */
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
