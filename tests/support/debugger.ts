import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'

/** A debugger at the inspector of a Node process, as an editor or Chrome's tools are. */
interface Debugger extends Disposable {
  /**
   * Sets a breakpoint, through the source maps of the scripts that the process has loaded.
   * @param source absolute path.
   * @param line of the source, 1 the first.
   */
  breakAt(source: string, line: number): Promise<void>
  /** Resolves when the process is paused, with the generated script's URL. */
  paused(): Promise<string>
  /** Lets it run on, without further breakpoints. */
  resume(): Promise<void>
  /** Lets a process run that waits for its debugger. */
  run(): Promise<void>
  /** Resolves when the process has closed the connection. */
  readonly closed: Promise<unknown>
}

interface Script {
  readonly scriptId: string
  readonly url: string
  readonly sourceMapURL?: string
}

/** Attaches to the process that listens on a port of this machine. */
export async function attachDebugger(port: number): Promise<Debugger> {
  const list = await expect
    .poll(
      () =>
        fetch(`http://127.0.0.1:${port}/json/list`).then(
          (answer) => answer.json(),
          () => undefined,
        ),
      {
        timeout: 20_000,
      },
    )
    .toEqual([expect.anything()])
    .then(async () => (await fetch(`http://127.0.0.1:${port}/json/list`)).json())
  const socket = new WebSocket((list as [{ webSocketDebuggerUrl: string }])[0].webSocketDebuggerUrl)
  const closed = once(socket, 'close')
  await once(socket, 'open')
  const answers = new Map<number, (result: unknown) => void>()
  const scripts: Script[] = []
  const pauses: string[] = []
  socket.addEventListener('message', ({ data }) => {
    const { id, result, method, params } = JSON.parse(String(data))
    if (id !== undefined) answers.get(id)?.(result)
    if (method === 'Debugger.scriptParsed') scripts.push(params)
    if (method === 'Debugger.paused') pauses.push(params.callFrames[0].location.scriptId)
  })

  function send(method: string, params: object = {}): Promise<unknown> {
    const id = answers.size + 1
    socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => answers.set(id, resolve))
  }

  async function tryBreakAt(source: string, line: number): Promise<boolean> {
    const wanted = pathToFileURL(source).href
    for (const { url, sourceMapURL = '' } of scripts) {
      if (!url.startsWith('file:') || sourceMapURL === '') continue
      const map = new URL(sourceMapURL, url)
      const base = map.protocol === 'file:' ? map : url
      const payload = JSON.parse(await mapText(map)) as SourceMapPayload
      const isSource = (name: string): boolean => new URL((payload.sourceRoot ?? '') + name, base).href === wanted
      const index = payload.sources.findIndex(isSource)
      if (index === -1) continue
      const places = generatedPlaces(payload, index, line)
      for (const place of places) await send('Debugger.setBreakpointByUrl', { url, ...place })
      if (places.length > 0) return true
    }
    return false
  }

  /** An answer may arrive before the debugger hears of the scripts that it is made by. */
  async function breakAt(source: string, line: number): Promise<void> {
    const message = `a script of the process that is made of line ${line} of ${source}`
    await expect.poll(() => tryBreakAt(source, line), { timeout: 20_000, message }).toBe(true)
  }

  await send('Debugger.enable')
  return {
    breakAt,
    async paused() {
      await expect.poll(() => pauses.length, { timeout: 20_000 }).toBeGreaterThan(0)
      const scriptId = pauses.shift()
      return scripts.find((script) => script.scriptId === scriptId)?.url ?? ''
    },
    async resume() {
      await send('Debugger.setBreakpointsActive', { active: false })
      await send('Debugger.resume')
    },
    run: async () => void (await send('Runtime.runIfWaitingForDebugger')),
    closed,
    [Symbol.dispose]: () => socket.close(),
  }
}

const WIDEST_LINE = 200 // columns; esbuild does not minify in development

/** Where the generated lines begin that are made of a source's line: Node's maps search the other way only. */
function generatedPlaces(payload: SourceMapPayload, source: number, line: number) {
  const map = new SourceMap(payload)
  const places: { readonly lineNumber: number; readonly columnNumber: number }[] = []
  for (const lineNumber of payload.mappings.split(';').keys()) {
    for (let columnNumber = 0; columnNumber < WIDEST_LINE; columnNumber += 1) {
      const entry = map.findEntry(lineNumber, columnNumber)
      if (!('originalLine' in entry) || entry.generatedLine !== lineNumber) continue
      if (entry.originalLine !== line - 1 || !entry.originalSource.endsWith(payload.sources[source] ?? '')) continue
      places.push({ lineNumber, columnNumber: entry.generatedColumn })
      break
    }
  }
  return places
}

/** The map's own text, which a URL with data carries. */
async function mapText(map: URL): Promise<string> {
  return map.protocol === 'file:' ? readFile(map, 'utf8') : (await fetch(map)).text()
}
