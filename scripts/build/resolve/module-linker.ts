import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { LinkAnswer, LinkedFile, LinkQuestion, LinkRequest } from './link-modules.ts'

const THREAD = join(import.meta.dirname, `link-modules${extname(import.meta.filename)}`)

/** Asks Node, in a thread, where imports of packages lead and whether it can load them. */
interface ModuleLinker {
  /** @returns `undefined` if Node finds no file. */
  link(request: LinkRequest): Promise<LinkedFile | undefined>
  /** Ends the thread, if nothing is asked; the next request starts another one, which reads all files again. */
  rest(): void
}

interface Waiting {
  readonly resolve: (found: LinkedFile | undefined) => void
  readonly reject: (error: Error) => void
}

/** Creates one without a thread. */
export function createModuleLinker(): ModuleLinker {
  const waiting = new Map<number, Waiting>()
  const state: { thread?: Worker; asked: number } = { asked: 0 }

  function start(): Worker {
    const thread = new Worker(THREAD, { stdin: false })
    thread.unref()
    thread.on('message', ({ id, found }: LinkAnswer) => {
      waiting.get(id)?.resolve(found)
      waiting.delete(id)
      if (waiting.size === 0) thread.unref()
    })
    thread.on('error', (thrown) => {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      if (state.thread === thread) delete state.thread
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    })
    return thread
  }

  return {
    link: (request) =>
      new Promise((resolve, reject) => {
        const thread = (state.thread ??= start())
        state.asked += 1
        const id = state.asked
        waiting.set(id, { resolve, reject })
        thread.ref()
        const question: LinkQuestion = { ...request, id }
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        thread.postMessage(question)
      }),
    rest() {
      if (waiting.size > 0) return
      void state.thread?.terminate()
      delete state.thread
    },
  }
}
