import cluster, { type Worker } from 'node:cluster'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { listenFault } from '../listen-fault.ts'
import type { GatheredMetrics } from './gather-metrics.ts'
import { createRollCall } from './roll-call.ts'
import type { PrimaryMessage, WorkerMessage } from './worker-messages.ts'
import { createPool, isComplete, nextStep, reducePool, type PoolAction } from './worker-pool.ts'

/** What the primary works with. */
export interface PrimaryOptions {
  readonly config: Pick<Config, 'host' | 'port' | 'workers' | 'shutdownGraceMs'>
  /** Absolute path of the script that workers run. */
  readonly script: string
  readonly log: Logger
  readonly metrics: GatheredMetrics | undefined
  /** Called once, when all workers serve for the first time. */
  readonly onComplete: (port: number) => void
  /** A line for a person, on stderr. */
  readonly complain: (line: string) => void
  /** Ends the process. */
  readonly leave: (code: number) => void
}

/** How long after their deadline workers may be at ending, before they are killed. */
const KILL_AFTER_MS = 1_000
/** How long an action of one worker waits for the caches of the others. One that is later is busy, and drops them then. */
const DROP_PATIENCE_MS = 500

/** The primary of a group of workers that share the port; it serves nothing itself. */
export interface Primary {
  /** Drains all workers; the second call ends them at once. */
  stop(signal: string): void
}

/** Starts the workers and keeps as many as are wanted; `worker-pool.ts` says when. */
export function runPrimary(options: PrimaryOptions): Primary {
  const { config, log, metrics, onComplete, complain, leave } = options
  let pool = createPool(config.workers)
  let port = config.port
  let complete = false
  let signals = 0
  let timer: NodeJS.Timeout | undefined
  const drops = createRollCall()
  cluster.setupPrimary({ exec: options.script, args: process.argv.slice(2) })

  cluster.on('message', (worker: Worker, message: WorkerMessage) => {
    switch (message.kind) {
      case 'ready':
        ;({ port } = message)
        return act({ kind: 'ready', id: worker.id })
      case 'leaving':
        return act({ kind: 'leaving', id: worker.id })
      case 'cannot-listen':
        log.fatal({ err: { message: message.message } }, 'cannot listen')
        return complain(listenFault('PORT', { host: config.host, port }, message.message))
      case 'metrics':
        return metrics?.take(worker.id, message.asked, message.metrics)
      case 'revalidate':
        return void revalidate(worker, message)
      case 'dropped':
        return drops.answer(worker.id, message.asked)
    }
  })
  cluster.on('exit', ({ id }, code: number | null, signal: string | null) => {
    metrics?.remove(id, pool.stopping)
    drops.remove(id)
    const facts = { worker: id, code, ...(signal === null ? {} : { signal }) }
    if (pool.stopping) log.info(facts, 'worker has ended')
    else log.error(facts, 'worker has died')
    act({ kind: 'died', id, code: signal === null ? code : 1, now: performance.now() })
  })

  const all = (): readonly Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const tell = (message: PrimaryMessage): void => {
    for (const worker of all()) {
      if (worker.isConnected()) worker.send(message, () => undefined)
    }
  }

  async function revalidate(from: Worker, { asked, targets }: Extract<WorkerMessage, { kind: 'revalidate' }>) {
    const others = all().filter(({ id }) => id !== from.id)
    // One that starts hears it too, and is not waited for: it serves nobody yet.
    const counts = ({ id }: Worker): boolean => pool.workers.get(id)?.phase !== 'starting'
    await drops.ask(others, (number) => ({ kind: 'drop', asked: number, targets }), DROP_PATIENCE_MS, counts)
    const answer: PrimaryMessage = { kind: 'revalidated', asked }
    if (from.isConnected()) from.send(answer, () => undefined)
  }

  function act(action: PoolAction): void {
    pool = reducePool(pool, action)
    if (!complete && isComplete(pool)) {
      complete = true
      onComplete(port)
    }
    step()
  }

  function step(): void {
    clearTimeout(timer)
    const next = nextStep(pool, performance.now())
    if (next.kind === 'end') return end(next.code)
    if (next.kind === 'fork') {
      for (let count = 0; count < next.count; count += 1) fork()
    } else if (next.until !== undefined) {
      timer = setTimeout(step, next.until - performance.now())
    }
  }

  function fork(): void {
    // Workers that share a free port know it as 0. Once none of them is left, the port is named, or it would be another.
    const isFirst = pool.workers.size === 0
    if (isFirst && pool.proven) named.port = port
    const { id } = cluster.fork(named.port === undefined ? {} : { PORT: String(named.port) })
    pool = reducePool(pool, { kind: 'started', id, now: performance.now() })
  }

  function end(code: 0 | 1): void {
    // The first worker has said itself what is wrong.
    if (!pool.stopping && pool.proven) complain('No worker can be started any more; the log says why.')
    tell({ kind: 'leave' })
    log.info({ orderly: code === 0 }, 'stopped')
    leave(code)
  }

  const named: { port?: number } = {}
  step()

  return {
    stop(signal) {
      signals += 1
      if (signals > 1) {
        tell({ kind: 'leave' })
        return leave(1)
      }
      log.info({ signal }, 'shutting down')
      act({ kind: 'stop' })
      tell({ kind: 'drain' })
      // A worker whose event loop stands still hears nothing.
      setTimeout(() => {
        for (const worker of all()) worker.process.kill('SIGKILL')
      }, config.shutdownGraceMs + KILL_AFTER_MS)
    },
  }
}
