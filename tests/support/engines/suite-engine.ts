import { afterAll, beforeAll, beforeEach } from 'vitest'
import { enginePage, type EnginePage } from './engine-page.ts'
import { startEngine, type Engine } from './find-engines.ts'

/**
 * Starts an engine for the tests of the suite that calls this, and skips them where it is not running. Not before they
 * run: where none of them is asked for, nobody would end what was started.
 * @returns its page, for use in tests.
 */
export function suiteEngine(engine: Engine): EnginePage {
  const state: { page?: EnginePage } = {}
  const running = (): EnginePage => {
    if (state.page === undefined) throw new Error(`${engine.name} is not running`)
    return state.page
  }
  beforeAll(async () => {
    const tab = await startEngine(engine)
    if (tab !== undefined) state.page = enginePage(tab)
  })
  beforeEach(({ skip }) => skip(state.page === undefined, 'It is not running on this machine'))
  const end = async (): Promise<void> => state.page?.[Symbol.asyncDispose]()
  afterAll(end)
  return {
    goto: (url) => running().goto(url),
    run: (...args) => running().run(...args),
    read: (...args) => running().read(...args),
    until: (...args) => running().until(...args),
    [Symbol.asyncDispose]: end,
  }
}
