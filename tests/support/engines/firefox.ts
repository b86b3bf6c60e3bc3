import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTempDir } from '../temp-dir.ts'
import { startProgram } from './child-program.ts'
import type { EngineTab } from './engine-page.ts'

interface BidiAnswer {
  readonly id?: number
  readonly type: 'success' | 'error' | 'event'
  readonly result?: unknown
  readonly message?: string
}

interface Evaluated {
  readonly type: 'success' | 'exception'
  readonly result?: { readonly value?: string }
  readonly exceptionDetails?: { readonly text: string }
}

// It asks nobody anything, and sends nothing of its own.
const PREFERENCES = `user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
`

/**
 * Starts Firefox without a window and drives it by what it speaks itself, WebDriver BiDi.
 * @param path its executable.
 * @see https://www.w3.org/TR/webdriver-bidi/
 */
export async function openFirefox(path: string): Promise<EngineTab> {
  await using cleanup = new AsyncDisposableStack()
  const profile = cleanup.use(await makeTempDir('firefox'))
  await writeFile(join(profile.path, 'user.js'), PREFERENCES)
  const args = ['--headless', '--no-remote', '--profile', profile.path, '--remote-debugging-port=0']
  const program = cleanup.use(startProgram(path, args, { HOME: profile.path }))
  const address = await program.says(/WebDriver BiDi listening on (ws:\S+)/)
  const send = await connect(`${address}/session`)
  await send('session.new', { capabilities: {} })
  const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })
  const rest = cleanup.move()

  return {
    async goto(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' })
    },
    async evaluate(expression) {
      const target = { target: { context }, awaitPromise: true, resultOwnership: 'none' }
      const { result, exceptionDetails } = await send<Evaluated>('script.evaluate', { expression, ...target })
      if (exceptionDetails) throw new Error(exceptionDetails.text)
      return result?.value ?? 'null'
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}

type Send = <Result = unknown>(method: string, params: object) => Promise<Result>

async function connect(url: string): Promise<Send> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const opened = Promise.withResolvers<void>()
  socket.addEventListener('open', () => opened.resolve())
  socket.addEventListener('close', () => {
    opened.reject(new Error('Firefox takes no connection'))
    for (const { reject } of waiting.values()) reject(new Error('Firefox has gone'))
  })
  socket.addEventListener('message', ({ data }) => {
    const { id = -1, type, result, message } = JSON.parse(String(data)) as BidiAnswer
    const asked = waiting.get(id)
    waiting.delete(id)
    if (type === 'success') asked?.resolve(result)
    else asked?.reject(new Error(message))
  })
  await opened.promise
  let last = 0
  return <Result>(method: string, params: object) => {
    const answer = Promise.withResolvers<unknown>()
    waiting.set((last += 1), answer)
    socket.send(JSON.stringify({ id: last, method, params }))
    return answer.promise as Promise<Result>
  }
}
