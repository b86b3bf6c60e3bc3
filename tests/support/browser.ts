/**
 * The test function of tests/browser: one Chromium and one built server for the whole run, a fresh context for every
 * page that is opened, and a test that fails when a page complained about anything the test did not expect.
 */
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { test } from 'vitest'
import { startBuiltServer } from './built-server.ts'
import { CHROMIUM_ARGS, findChromium, HOW_TO_GET_CHROMIUM } from './chromium.ts'
import { savePages } from '../../src/testing/keep-failed-pages.ts'
import { FAILED_PAGES } from './failed-pages.ts'
import { recordComplaints, unexpectedComplaints } from './page-complaints.ts'

/** How a page is opened. */
export interface OpenOptions {
  /** Whether the browser runs scripts. Default `true`. */
  readonly javaScript?: boolean
  /** Complaints that are part of what the test is about; see `recordComplaints` for how a line looks. */
  readonly allow?: readonly RegExp[]
  /** Further settings of the context: viewport, colour scheme, locale, cookies. */
  readonly context?: Omit<BrowserContextOptions, 'javaScriptEnabled'>
}

/** Opens an empty page in a context of its own; its relative URLs are the server's. */
export type OpenPage = (options?: OpenOptions) => Promise<Page>

/**
 * Starts the Chromium of this machine, without a window.
 * @throws {Error} with the way to get one, where there is none.
 */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(`No Chromium found. ${HOW_TO_GET_CHROMIUM}`)
  return chromium.launch({ executablePath, args: [...CHROMIUM_ARGS] })
}

/**
 * `test` with a browser in it. `open` is what tests use; `server` is the built reference application, and a file that
 * needs another one says `browserTest.override('server', ...)`.
 */
export const browserTest = test
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await launchChromium()
    onCleanup(() => browser.close())
    return browser
  })
  .extend('server', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const server = await startBuiltServer()
    onCleanup(async () => void (await server.stop()))
    return server
  })
  .extend('open', async ({ browser, server, task }, { onCleanup }): Promise<OpenPage> => {
    const endings: (() => Promise<string[]>)[] = []
    const opened: { readonly pages: () => readonly Page[]; readonly said: readonly string[] }[] = []
    onCleanup(async () => {
      if (task.result?.state === 'fail') {
        const said = opened.flatMap((context) => context.said)
        const pages = opened.flatMap((context) => context.pages())
        const kept = await savePages(task.name, pages, said, FAILED_PAGES)
        if (kept.length > 0) process.stdout.write(`What its pages showed: ${kept.join(', ')}\n`)
      }
      const complaints = (await Promise.all(endings.map((end) => end()))).flat()
      if (complaints.length > 0) throw new Error(`The page complained:\n${complaints.join('\n')}`)
    })
    return async ({ javaScript = true, allow = [], context: settings = {} } = {}) => {
      const context = await browser.newContext({
        baseURL: server.origin,
        ...settings,
        javaScriptEnabled: javaScript,
      })
      const complaints = recordComplaints(context, javaScript)
      const said: string[] = []
      context.on('console', (message) => said.push(`${message.type()}: ${message.text()}`))
      opened.push({ pages: () => context.pages(), said })
      endings.push(async () => {
        // What a test still holds back fails with the context, and nobody is left to hear of it.
        await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })))
        await context.close()
        return unexpectedComplaints(complaints, allow)
      })
      return context.newPage()
    }
  })

/** Titles for a suite that runs twice: `describe.for(JAVASCRIPT)('guestbook, JavaScript $name', ({ javaScript }) => …)`. */
export const JAVASCRIPT = [
  { name: 'on', javaScript: true },
  { name: 'off', javaScript: false },
] as const
