import type { MetricValues } from '../metrics/merge-metrics.ts'
import type { PrimaryMessage, WorkerMessage } from './worker-messages.ts'

/** What a worker does at the request of its primary. */
interface WorkerDuties {
  /** Finish answers in flight, and end; may be called again. */
  drain(): void
  /** End now. */
  leave(): void
  /** Metrics of this worker; absent if nothing is measured. */
  readonly metrics?: (() => Promise<readonly MetricValues[]>) | undefined
  /** Drop tags and paths from the caches of this worker. */
  drop(targets: readonly string[], at: number): void
}

const PATIENCE_MS = 1_000 // an action must not hang on a silent primary, which waits 500 ms for the other workers

/** A worker's channel to its primary. When the primary dies, Node ends the worker. */
export interface PrimaryLink {
  /** @param sent called when the message was sent or could not be. */
  tell(message: WorkerMessage, sent?: () => void): void
  /** Makes all other workers drop tags and paths. Resolves when they have, or after 1 s. */
  revalidate(targets: readonly string[], at: number): Promise<void>
  /** Starts to listen; called once. */
  serve(duties: WorkerDuties): void
}

/** @param channel the process, which has an IPC channel in a worker. */
export function createPrimaryLink(channel: Pick<NodeJS.Process, 'on' | 'send'>): PrimaryLink {
  const tell = (message: WorkerMessage, sent?: () => void): void => {
    // A worker can do nothing about a dead primary.
    channel.send?.(message, undefined, undefined, () => sent?.())
  }
  /** Bound: one entry per open question. */
  const open = new Map<number, () => void>()
  let asked = 0
  return {
    tell,
    async revalidate(targets, at) {
      asked += 1
      const question = asked
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PATIENCE_MS)
        open.set(question, () => {
          clearTimeout(timer)
          resolve()
        })
        tell({ kind: 'revalidate', asked: question, targets, at })
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
            drop(message.targets, message.at)
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
