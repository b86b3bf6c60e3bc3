import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../../config/config.ts'
import { listenFault } from '../start-faults.ts'
import type { GatheredMetrics } from './gather-metrics.ts'
import { createRollCall } from './roll-call.ts'
import { tellWorker, tellWorkers, WorkerGroup, workerProcesses, type WorkerGroupParts } from './worker-group.ts'
import type { WorkerMessage } from './worker-messages.ts'

const KILL_AFTER_MS = 1_000 // after the deadline for answers in flight: time for workers to end
const DROP_PATIENCE_MS = 500 // an action waits so long for other workers to drop values; a busy one drops them later

/** What the primary works with. */
interface PrimaryOptions extends WorkerGroupParts {
  readonly config: Pick<Config, 'host' | 'port' | 'workers' | 'shutdownGraceMs'>
  /** Absolute path of the script that workers run. */
  readonly script: string
  readonly metrics: GatheredMetrics | undefined
}

/** The primary of a group of workers that share the port; it serves nothing itself. */
interface Primary {
  /** Drains all workers; the second call ends them at once. */
  stop(signal: string): void
}

/** Starts the workers and replaces those that die; `worker-pool.ts` decides when. */
export function runPrimary(options: PrimaryOptions): Primary {
  const { config, log, metrics, complain, leave } = options
  const group = new WorkerGroup(options)
  const drops = createRollCall()
  let signals = 0
  cluster.setupPrimary({ exec: options.script, args: process.argv.slice(2) })

  async function revalidate(from: Worker, { asked, targets, at }: Extract<WorkerMessage, { kind: 'revalidate' }>) {
    const others = workerProcesses().filter(({ id }) => id !== from.id)
    // A starting worker gets it too, but is not waited for: it serves no visitors yet.
    const counts = ({ id }: Worker): boolean => !group.isStarting(id)
    await drops.ask(others, (number) => ({ kind: 'drop', asked: number, targets, at }), DROP_PATIENCE_MS, counts)
    tellWorker(from, { kind: 'revalidated', asked })
  }

  cluster.on('message', (worker: Worker, message: WorkerMessage) => {
    switch (message.kind) {
      case 'ready':
        return group.ready(worker.id, message.port)
      case 'leaving':
        return group.act({ kind: 'leaving', id: worker.id })
      case 'cannot-listen':
        log.fatal({ err: { message: message.message } }, 'cannot listen')
        return complain(listenFault('PORT', { host: config.host, port: group.port }, message.message))
      case 'metrics':
        return metrics?.take(worker.id, message.asked, message.metrics)
      case 'revalidate':
        return void revalidate(worker, message)
      case 'dropped':
        return drops.answer(worker.id, message.asked)
    }
  })
  cluster.on('exit', ({ id }, code: number | null, signal: string | null) => {
    metrics?.remove(id, group.stopping)
    drops.remove(id)
    const facts = { worker: id, code, ...(signal === null ? {} : { signal }) }
    if (group.stopping) log.info(facts, 'worker has ended')
    else log.error(facts, 'worker has died')
    group.act({ kind: 'died', id, code: signal === null ? code : 1, now: performance.now() })
  })
  group.step()

  return {
    stop(signal) {
      signals += 1
      if (signals > 1) {
        tellWorkers({ kind: 'leave' })
        return leave(1)
      }
      log.info({ signal }, 'shutting down')
      group.act({ kind: 'stop' })
      tellWorkers({ kind: 'drain' })
      // A worker whose event loop is blocked hears nothing.
      setTimeout(() => {
        for (const worker of workerProcesses()) worker.process.kill('SIGKILL')
      }, config.shutdownGraceMs + KILL_AFTER_MS)
    },
  }
}
