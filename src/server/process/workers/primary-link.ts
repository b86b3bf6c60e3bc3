import type { MetricValues } from '../metrics/merge-metrics.ts'
import type { PrimaryMessage, WorkerMessage } from './worker-messages.ts'

/** What a worker does when its primary asks for it. */
export interface WorkerDuties {
  /** Finish what has begun, and end; asked once or more. */
  drain(): void
  /** End now. */
  leave(): void
  /** Metrics of this worker; absent where nothing is measured. */
  readonly metrics?: (() => Promise<readonly MetricValues[]>) | undefined
  /** Drop tags and paths from the caches of this worker. */
  drop(targets: readonly string[]): void
}

/** The primary waits for the others for half of that; where it does not answer itself, an action must not hang. */
const PATIENCE_MS = 1_000

/** A worker's way to its primary. Where the primary is gone, Node ends the worker. */
export interface PrimaryLink {
  /** @param sent called when the message is on its way, or cannot be. */
  tell(message: WorkerMessage, sent?: () => void): void
  /** Has all other workers drop tags and paths. Resolves when they have, or do not answer in time. */
  revalidate(targets: readonly string[]): Promise<void>
  /** Begins to listen; to be called once. */
  serve(duties: WorkerDuties): void
}

/** @param channel the process, which has an IPC channel in a worker. */
export function createPrimaryLink(channel: Pick<NodeJS.Process, 'on' | 'send'>): PrimaryLink {
  const tell = (message: WorkerMessage, sent?: () => void): void => {
    // A primary that is gone just now is nothing that a worker could act on.
    channel.send?.(message, undefined, undefined, () => sent?.())
  }
  /** Bound: one entry a question that is open. */
  const open = new Map<number, () => void>()
  let asked = 0
  return {
    tell,
    async revalidate(targets) {
      asked += 1
      const question = asked
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PATIENCE_MS)
        open.set(question, () => {
          clearTimeout(timer)
          resolve()
        })
        tell({ kind: 'revalidate', asked: question, targets })
      })
      open.delete(question)
    },
    serve({ drain, leave, metrics, drop }) {
      channel.on('message', (message: PrimaryMessage) => {
        switch (message.kind) {
          case 'drain':
            return drain()
          case 'leave':
            return leave()
          case 'drop':
            drop(message.targets)
            return tell({ kind: 'dropped', asked: message.asked })
          case 'revalidated':
            return open.get(message.asked)?.()
          case 'metrics':
            return void metrics?.().then((values) => tell({ kind: 'metrics', asked: message.asked, metrics: values }))
        }
      })
    },
  }
}
