/**
 * Runs SQLite's checkpoints (from the write-ahead log to the file) in a thread. A checkpoint waits for the disk, tens
 * to hundreds of milliseconds, and would block the event loop; other writes continue meanwhile. The first thousand
 * writes start the thread. Without a thread, or after it has failed, SQLite's automatic checkpoints do the work.
 */
import { Worker } from 'node:worker_threads'

const WRITES = 1_000 // about 8 MiB of log

/** Runs in the thread. If the file is busy or gone, the next checkpoint does the work. */
const SCRIPT = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const own = {}
parentPort.on('message', () => {
  try {
    own.database ??= new DatabaseSync(workerData)
    own.database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(PASSIVE)')
  } catch {}
  parentPort.postMessage('done')
})
`

/** Checkpoints of one file. */
interface CheckpointThread {
  /**
   * Counts a write. Cheap; call it after every write.
   * @param writes how many small ones it is worth, of about 8 KiB. Default: 1.
   */
  readonly wrote: (writes?: number) => void
  /** Ends the thread. */
  dispose(): void
}

/**
 * @param path of the file, which the caller opens and closes.
 * @param most writes between two checkpoints.
 * @param done called after each checkpoint.
 */
export function createCheckpointThread(path: string, most = WRITES, done?: () => void): CheckpointThread {
  let count = 0
  let isBusy = false
  let thread: Worker | undefined
  let isOver = false

  function start(): Worker {
    const started = new Worker(SCRIPT, { eval: true, workerData: path, execArgv: [], env: {} })
    started.unref()
    started.on('message', () => {
      isBusy = false
      done?.()
    })
    started.on('error', () => {
      isOver = true
    })
    return started
  }

  return {
    wrote(writes = 1) {
      count += writes
      if (count < most || isBusy || isOver) return
      count = 0
      isBusy = true
      thread ??= start()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      thread.postMessage('checkpoint')
    },
    dispose() {
      isOver = true
      void thread?.terminate()
    },
  }
}
