/**
 * Brings the log of an SQLite file into the file, in a thread of its own: that waits for the disk, tens of milliseconds
 * and on a busy one hundreds, in which the event loop would stand still. Others write on meanwhile. The thread is started
 * by the first thousand writes; a server that writes little never has one, and leaves it to SQLite's own checkpoints. So
 * does one whose thread has failed.
 */
import { Worker } from 'node:worker_threads'

const WRITES = 1_000 // some 8 MiB of log

/** Runs in the thread. A checkpoint that finds the file busy or gone is left to the next. */
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

/** Looks after the log of one file. */
export interface CheckpointThread {
  /** Something was written. Cheap; to be called after every write. */
  readonly wrote: () => void
  /** Ends the thread. */
  dispose(): void
}

/**
 * @param path of the file, which somebody else has opened and will close.
 * @param writes after so many the log is brought into the file.
 * @param done told of each time that it was.
 */
export function createCheckpointThread(path: string, writes = WRITES, done?: () => void): CheckpointThread {
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
    wrote() {
      count += 1
      if (count < writes || isBusy || isOver) return
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
