import cluster, { type Worker } from 'node:cluster'
import type { Logger } from 'pino'
import type { PrimaryMessage } from './worker-messages.ts'
import { createPool, isComplete, nextStep, reducePool, type PoolAction, type WorkerPool } from './worker-pool.ts'

/** Parts of a group of workers. */
export interface WorkerGroupParts {
  /** `port` may be 0 for any free one; `workers` is the number of workers that should serve. */
  readonly config: { readonly port: number; readonly workers: number }
  readonly log: Logger
  /** Called once, when all workers serve for the first time. */
  readonly onComplete: (port: number) => void
  /** Writes a line for a person to stderr. */
  readonly complain: (line: string) => void
  /** Ends the process. */
  readonly leave: (code: number) => void
}

/** The workers that are running, starting and ending ones included. */
export function workerProcesses(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

/** Sends a message to all workers that can be reached. */
export function tellWorkers(message: PrimaryMessage): void {
  for (const worker of workerProcesses()) tellWorker(worker, message)
}

/** Sends a message to a worker, if it can be reached. */
export function tellWorker(worker: Worker, message: PrimaryMessage): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}

/** Forks workers as `worker-pool.ts` decides. */
export class WorkerGroup {
  readonly #parts: WorkerGroupParts
  #pool: WorkerPool
  /** Where the workers listen, once one has said so. */
  #port: number
  /** A port that new workers must use, although PORT may be 0. */
  #pinned: number | undefined
  #complete = false
  #timer: NodeJS.Timeout | undefined

  constructor(parts: WorkerGroupParts) {
    this.#parts = parts
    this.#pool = createPool(parts.config.workers)
    this.#port = parts.config.port
  }

  get stopping(): boolean {
    return this.#pool.stopping
  }

  get port(): number {
    return this.#port
  }

  isStarting(worker: number): boolean {
    return this.#pool.workers.get(worker)?.phase === 'starting'
  }

  ready(id: number, port: number): void {
    // Port 0 is another port once all workers have died at once and their replacements were forked before that was
    // known: visitors know the first one.
    if (this.#pool.proven && port !== this.#port) {
      this.#pinned = this.#port
      return void cluster.workers?.[id]?.process.kill('SIGKILL')
    }
    this.#port = port
    this.act({ kind: 'ready', id })
  }

  act(action: PoolAction): void {
    this.#pool = reducePool(this.#pool, action)
    if (!this.#complete && isComplete(this.#pool)) {
      this.#complete = true
      this.#parts.onComplete(this.#port)
    }
    this.step()
  }

  /** Does what the pool needs now, or waits until it needs something. */
  step(): void {
    clearTimeout(this.#timer)
    const next = nextStep(this.#pool, performance.now())
    if (next.kind === 'end') return this.#end(next.code)
    if (next.kind === 'fork') {
      for (let count = 0; count < next.count; count += 1) this.#fork()
    } else if (next.until !== undefined) {
      this.#timer = setTimeout(() => this.step(), next.until - performance.now())
    }
  }

  #fork(): void {
    // Workers share a free port as port 0. When none is left, 0 would pick another one.
    if (this.#pool.workers.size === 0 && this.#pool.proven) this.#pinned = this.#port
    const { id } = cluster.fork(this.#pinned === undefined ? {} : { PORT: String(this.#pinned) })
    this.#pool = reducePool(this.#pool, { kind: 'started', id, now: performance.now() })
  }

  #end(code: 0 | 1): void {
    const { complain, log, leave } = this.#parts
    // A first worker that fails has reported the reason itself.
    if (!this.#pool.stopping && this.#pool.proven) complain('No worker can be started any more; the log says why.')
    tellWorkers({ kind: 'leave' })
    log.info({ orderly: code === 0 }, 'stopped')
    leave(code)
  }
}
