import { freePort } from '../free-ports.ts'
import { makeTempDir } from '../temp-dir.ts'
import { startProgram } from './child-program.ts'
import type { EngineTab } from './engine-page.ts'
import { setTimeout as delay } from 'node:timers/promises'

/** What WebKit needs to run without a desktop. */
interface WebKitPrograms {
  readonly driver: string
  readonly browser: string
  readonly display: string
}

const POLL_MS = 50 // another process can only be asked
const PATIENCE_MS = 20_000 // for hangs only
const SCRIPT_LIMIT_MS = 30_000 // for hangs only

/** As root, in a container, without a graphics card. */
const ENVIRONMENT = { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', LIBGL_ALWAYS_SOFTWARE: '1' }

/**
 * Starts the small browser that comes with WebKitGTK on a display of its own, and drives it by WebDriver.
 * @see https://www.w3.org/TR/webdriver2/
 */
export async function openWebKit({ driver, browser, display }: WebKitPrograms): Promise<EngineTab> {
  await using cleanup = new AsyncDisposableStack()
  const home = cleanup.use(await makeTempDir('webkit'))
  const screen = cleanup.use(
    startProgram(display, ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {}, 3),
  )
  const number = await screen.says(/(\d+)\n/)
  const port = await freePort()
  const environment = { ...ENVIRONMENT, DISPLAY: `:${number}`, HOME: home.path }
  const program = cleanup.use(startProgram(driver, [`--port=${port}`], environment))
  const send = commandsOf(`http://127.0.0.1:${port}`)
  const deadline = AbortSignal.timeout(PATIENCE_MS)
  while (!(await send('GET', '/status').catch(() => undefined))) {
    if (program.isOver() || deadline.aborted) throw new Error(`${driver} has ended, or does not answer`)
    await delay(POLL_MS)
  }
  const options = { 'webkitgtk:browserOptions': { binary: browser, args: ['--automation'] } }
  const session = { capabilities: { alwaysMatch: options } }
  const { sessionId } = await send<{ sessionId: string }>('POST', '/session', session)
  const base = `/session/${sessionId}`
  cleanup.defer(async () => void (await send('DELETE', base).catch(() => undefined)))
  await send('POST', `${base}/timeouts`, { script: SCRIPT_LIMIT_MS })
  const rest = cleanup.move()

  return {
    async goto(url) {
      await send('POST', `${base}/url`, { url })
    },
    async evaluate(expression) {
      const script = `const [done] = arguments;
        ${expression}.then((value) => done({ value }), (thrown) => done({ thrown: String(thrown) }))`
      const answer = await send<{ value: string; thrown?: string }>('POST', `${base}/execute/async`, {
        script,
        args: [],
      })
      if (answer.thrown !== undefined) throw new Error(answer.thrown)
      return answer.value
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}

function commandsOf(origin: string) {
  return async <Result = unknown>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Result> => {
    const answer = await fetch(origin + path, { method, ...(body && { body: JSON.stringify(body) }) })
    const { value } = (await answer.json()) as { value: Result & { error?: string; message?: string } }
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`)
    return value
  }
}
