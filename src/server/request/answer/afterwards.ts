import { clientKey } from '../../http/client-key.ts'
import { createShares } from '../../http/shares.ts'
import { createFairQueue } from '../../http/fair-queue.ts'
import type { RequestContext, Afterwards } from '../context.ts'
import { reportFailure } from './failure.ts'

/** Work that runs at once: each may hold a connection to a mail server that does not answer. */
const MOST_RUNNING = 500
/** Work that waits for its turn: each holds its request in memory. */
const MOST_WAITING = 2_000

/** Work after an answer that was not begun, because too much of it waits. */
export class AfterwardsFullError extends Error {
  override readonly name = 'AfterwardsFullError'
}

interface Work {
  readonly work: () => unknown
  readonly context: RequestContext
}

/**
 * Tracks the work of one server that continues after its answers. Clients take turns, and have shares of what runs and of
 * what waits (`shares.ts`): a client whose work never ends, such as by forms that send mails, does not keep others' from
 * beginning.
 */
export function createAfterwards(mostRunning = MOST_RUNNING, mostWaiting = MOST_WAITING): Afterwards {
  const open = new Set<Promise<void>>()
  const running = createShares({ most: () => mostRunning, halves: true })
  const waiting = createShares({ most: () => mostWaiting, halves: true })
  const queue = createFairQueue<Work>()

  function start({ work, context }: Work, client: string): void {
    const task = attempt(work, context).finally(() => {
      open.delete(task)
      running.give(client)
      startNext()
    })
    open.add(task)
  }

  /** The first in turn that may have one more running. */
  function startNext(): void {
    for (const { context } of queue.firsts()) {
      const client = clientOf(context)
      if (running.take(client) !== undefined) continue
      const next = queue.take(client)
      waiting.give(client)
      if (next !== undefined) start(next, client)
      return
    }
  }

  return {
    run(work, context) {
      const client = clientOf(context)
      if (running.take(client) === undefined) return start({ work, context }, client)
      if (waiting.take(client) === undefined) return queue.add(client, { work, context })
      const error = new AfterwardsFullError(
        'context.after: too much work waits after other answers, so this was not begun',
      )
      reportFailure(error, context, 'after')
    },
    async settled() {
      while (open.size > 0) await Promise.all(open)
    },
  }
}

async function attempt(work: () => unknown, context: RequestContext): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    reportFailure(thrown, context, 'after')
  }
}

function clientOf({ clientAddress }: RequestContext): string {
  return clientKey(clientAddress.address)
}
