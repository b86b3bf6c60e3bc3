/** A process's memory from inside. Source: Node, `process.memoryUsage()`; bytes. */
export interface HeapFigures {
  readonly heapUsed: number
  readonly external: number
  readonly arrayBuffers: number
  readonly rss: number
}

/** A connection to Node's inspector. */
interface Inspector extends Disposable {
  /** Lets what is under way end, collects garbage, and reads the memory. */
  settledMemory(): Promise<HeapFigures>
}

interface Reply {
  readonly id?: number
  readonly error?: { readonly message: string }
  readonly result?: { readonly result?: { readonly value?: unknown } }
}

const SETTLE_MS = 300 // above any delay that the load asks for; run inside the process, on its own clock

/**
 * Opens the inspector of a process that was started with `--inspect`.
 * @param url `ws:` address from its stderr.
 * @throws {Error} when it does not answer.
 */
export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url)
  const replies = new Map<number, PromiseWithResolvers<Reply>>()
  await new Promise((opened, failed) => {
    socket.addEventListener('open', opened, { once: true })
    socket.addEventListener('error', () => failed(new Error(`No inspector at ${url}.`)), { once: true })
  })
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.id !== undefined) replies.get(reply.id)?.resolve(reply)
  })
  socket.addEventListener('close', () => {
    for (const reply of replies.values()) reply.reject(new Error('The inspected process has gone.'))
  })

  async function call(method: string, params: object = {}): Promise<unknown> {
    const id = replies.size + 1
    const pending = Promise.withResolvers<Reply>()
    replies.set(id, pending)
    socket.send(JSON.stringify({ id, method, params }))
    const { error, result } = await pending.promise
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result?.result?.value
  }

  return {
    async settledMemory() {
      const wait = `new Promise((done) => setTimeout(done, ${SETTLE_MS}))`
      await call('Runtime.evaluate', { expression: wait, awaitPromise: true })
      await call('HeapProfiler.collectGarbage')
      await call('HeapProfiler.collectGarbage') // what finalizers of the first round let go
      const figures = await call('Runtime.evaluate', {
        expression: '({ ...process.memoryUsage() })',
        returnByValue: true,
      })
      return figures as HeapFigures
    },
    [Symbol.dispose]: () => socket.close(),
  }
}
