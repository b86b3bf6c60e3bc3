import type { Worker } from 'node:cluster'
import type { PrimaryMessage } from './worker-messages.ts'

/** Questions of the primary to several workers. */
interface RollCall {
  /**
   * Asks workers, and waits for their answers.
   * @param question makes the message from the question's number.
   * @param patienceMs longest wait, in milliseconds.
   * @param counts picks the workers to wait for; default: all.
   */
  ask(
    workers: readonly Worker[],
    question: (asked: number) => PrimaryMessage,
    patienceMs: number,
    counts?: (worker: Worker) => boolean,
  ): Promise<void>
  /** Notes the answer of a worker. */
  answer(worker: number, asked: number): void
  /** Stops waiting for a worker that has died. */
  remove(worker: number): void
}

/** Bound: one entry per open question. */
export function createRollCall(): RollCall {
  const open = new Map<number, { readonly missing: Set<number>; readonly done: () => void }>()
  let asked = 0

  const answer = (worker: number, question: number): void => {
    const waiting = open.get(question)
    waiting?.missing.delete(worker)
    if (waiting?.missing.size === 0) waiting.done()
  }

  return {
    answer,
    async ask(workers, question, patienceMs, counts = () => true) {
      const connected = workers.filter((worker) => worker.isConnected())
      const missing = new Set(connected.filter(counts).map(({ id }) => id))
      asked += 1
      const number = asked
      const message = question(number)
      for (const worker of connected) worker.send(message, () => undefined)
      if (missing.size === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patienceMs)
        const done = (): void => {
          clearTimeout(timer)
          resolve()
        }
        open.set(number, { missing, done })
      })
      open.delete(number)
    },
    remove(worker) {
      for (const question of open.keys()) answer(worker, question)
    },
  }
}
