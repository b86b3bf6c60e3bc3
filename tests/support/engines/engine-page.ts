import { setTimeout as delay } from 'node:timers/promises'

/** A tab of a browser that is neither Chromium nor one of Playwright's own builds. */
export interface EngineTab extends AsyncDisposable {
  /** Loads a document, and waits for its `load`. */
  goto(url: string): Promise<void>
  /**
   * Evaluates an expression that gives a promise of a text.
   * @throws {Error} with what was thrown in the page, or where its document has gone meanwhile.
   */
  evaluate(expression: string): Promise<string>
}

/** A tab with what tests do in it. */
export interface EnginePage extends Pick<EngineTab, 'goto'>, AsyncDisposable {
  /** Runs a function in the page; arguments and result travel as JSON. */
  run<Args extends readonly unknown[], Result>(
    work: (...args: Args) => Result | Promise<Result>,
    ...args: Args
  ): Promise<Awaited<Result>>
  /**
   * Runs a function that reads the page.
   * @throws {Error} where it gives nothing soon: engines never answer for a document that went while it was read.
   */
  read: EnginePage['run']
  /**
   * Runs a function that reads the page, or the one that is coming, until it gives something true.
   * @throws {Error} with the function and what it gave last, when that takes too long.
   */
  until<Args extends readonly unknown[]>(work: (...args: Args) => unknown, ...args: Args): Promise<void>
}

const PATIENCE_MS = 20_000 // for hangs only
const POLL_MS = 50 // another process can only be asked
const READ_LIMIT_MS = 3_000 // is asked again

/** Gives a tab the functions that tests use. */
export function enginePage(tab: EngineTab): EnginePage {
  const run: EnginePage['run'] = async (work, ...args) => {
    const call = `(${work.toString()})(...${JSON.stringify(args)})`
    return JSON.parse(await tab.evaluate(`(async () => JSON.stringify((await ${call}) ?? null))()`))
  }
  const read: EnginePage['run'] = (work, ...args) => {
    const ended = new AbortController()
    const late = delay(READ_LIMIT_MS, undefined, { signal: ended.signal }).then(() => {
      throw new Error(`No answer in ${READ_LIMIT_MS} ms`)
    })
    const reading = run(work, ...args)
    return Promise.race([reading, late])
      .then(() => reading)
      .finally(() => ended.abort())
  }
  return {
    goto: (url) => tab.goto(url),
    run,
    read,
    async until(work, ...args) {
      const deadline = AbortSignal.timeout(PATIENCE_MS)
      let last: unknown
      do {
        last = await read(work, ...args).catch((thrown: unknown) => thrown)
        if (last && !(last instanceof Error)) return
        await delay(POLL_MS)
      } while (!deadline.aborted)
      throw new Error(`Never true: ${work.toString()} of ${JSON.stringify(args)}; last: ${String(last)}`)
    },
    [Symbol.asyncDispose]: () => tab[Symbol.asyncDispose](),
  }
}
