import { chromium } from 'playwright-core'
import type { Browser, BrowserContext } from 'playwright-core'
import { CHROMIUM_ARGS, findChromium, HOW_TO_GET_CHROMIUM } from '../support/chromium.ts'
import { recordComplaints, unexpectedComplaints } from '../support/page-complaints.ts'

/** Why nothing can be measured in a browser here; `undefined` where there is one. */
export function missingChromium(): string | undefined {
  return findChromium() === undefined ? `No Chromium found. ${HOW_TO_GET_CHROMIUM}` : undefined
}

/** A Chromium without a window, started as the browser tests start theirs. */
export interface BenchBrowser extends AsyncDisposable {
  /** A context of its own: caches and storage are empty. */
  open(): Promise<BrowserContext>
  /** @throws {Error} when a page has complained of anything that is not allowed: such a run measures something else. */
  check(allow?: readonly RegExp[]): void
}

/** @throws {Error} where there is no Chromium. */
export async function startBrowser(): Promise<BenchBrowser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(`No Chromium found. ${HOW_TO_GET_CHROMIUM}`)
  const browser: Browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGS] })
  const complaints: string[][] = []
  return {
    async open() {
      const context = await browser.newContext()
      complaints.push(recordComplaints(context))
      return context
    },
    check(allow = []) {
      const unexpected = unexpectedComplaints(complaints.flat(), allow)
      if (unexpected.length > 0) throw new Error(`A page complained:\n${unexpected.slice(0, 10).join('\n')}`)
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}
