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
}

/** A worker's way to its primary. Where the primary is gone, Node ends the worker. */
export interface PrimaryLink {
  /** @param sent called when the message is on its way, or cannot be. */
  tell(message: WorkerMessage, sent?: () => void): void
  /** Begins to listen; to be called once. */
  serve(duties: WorkerDuties): void
}

/** @param channel the process, which has an IPC channel in a worker. */
export function createPrimaryLink(channel: Pick<NodeJS.Process, 'on' | 'send'>): PrimaryLink {
  const tell = (message: WorkerMessage, sent?: () => void): void => {
    // A primary that is gone just now is nothing that a worker could act on.
    channel.send?.(message, undefined, undefined, () => sent?.())
  }
  return {
    tell,
    serve({ drain, leave, metrics }) {
      channel.on('message', (message: PrimaryMessage) => {
        switch (message.kind) {
          case 'drain':
            return drain()
          case 'leave':
            return leave()
          case 'metrics':
            return void metrics?.().then((values) => tell({ kind: 'metrics', asked: message.asked, metrics: values }))
        }
      })
    },
  }
}
