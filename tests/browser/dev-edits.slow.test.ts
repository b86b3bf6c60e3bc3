/**
 * Random edits in a row leave the development server, and a page that is open all the time, as a fresh start would be.
 * `DEV_EDITS=200 DEV_SEED=7 npm test -- dev-edits` makes more of them, or those of another seed.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { seededRandom, type Random } from '../../scripts/seeded-random.ts'
import { browserTest } from '../support/browser.ts'
import { startBuiltServer } from '../support/built-server.ts'
import { comparableHtml } from '../support/comparable-html.ts'
import { linkProject, runMillrace, startDevCommand, writeFiles } from '../support/linked-project.ts'
import {
  EDITS,
  filesOf,
  firstState,
  pathsOf,
  SETTINGS_EDITS,
  type EditedApplication,
} from '../support/edited-application.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const COUNT = Number(process.env['DEV_EDITS'] ?? 20)
const SEED = Number(process.env['DEV_SEED'] ?? 1)
const COMPARED_EVERY = 20 // edits
const SETTINGS_EVERY = 10 // edits; each restarts the server
const LONGEST_PAUSE_MS = 600 // some edits come while the one before is being applied
const SETTLED_WITHIN_MS = 60_000 // for hangs only

/** Statuses and documents of a server by path. */
async function answersOf(origin: string, paths: readonly string[]): Promise<Record<string, string>> {
  const answers = paths.map(async (path) => {
    const answer = await fetch(origin + path, { redirect: 'manual' })
    const html = answer.status < 300 || answer.status >= 400 ? comparableHtml(await answer.text()) : ''
    return [path, `${answer.status} ${html}`] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}

/** What a visitor sees of the open page: its text, and what only its stylesheets tell. */
function seenIn(page: Page): Promise<unknown> {
  return page.evaluate(() => ({
    html: document.querySelector('main')?.innerHTML.replaceAll(/<!--.*?-->| class="[^"]*"/g, ''),
    title: document.title,
    document: document.documentElement.dataset['document'],
    offset: getComputedStyle(document.querySelector('section') ?? document.body).outlineOffset,
    margin: getComputedStyle(document.querySelector('main') ?? document.body).scrollMarginTop,
  }))
}

/** The documents of a server that has failed load themselves again. */
async function isLost(page: Page): Promise<boolean> {
  for (;;) {
    try {
      return await page.evaluate(
        () => document.querySelector('main') === null && !document.documentElement.hasAttribute('data-millrace-failed'),
      )
    } catch {
      await page.waitForLoadState() // a navigation has come between
    }
  }
}

/** Writes what has changed, files that are gone first or last. */
async function writeState(root: string, written: Map<string, string>, state: EditedApplication): Promise<void> {
  const files = filesOf(state)
  const changed = [...files].filter(([path, text]) => written.get(path) !== text)
  const gone = [...written.keys()].filter((path) => !files.has(path))
  await writeFiles(root, Object.fromEntries(changed))
  for (const path of gone) await rm(join(root, path))
  written.clear()
  for (const [path, text] of files) written.set(path, text)
}

function edit(state: EditedApplication, random: Random, at: number): string {
  const edits = at % SETTINGS_EVERY === SETTINGS_EVERY - 1 ? SETTINGS_EDITS : EDITS
  const [name, change] = edits[Math.floor(random() * edits.length)] ?? ['', () => undefined]
  change(state, random)
  return name
}

browserTest(
  `${COUNT} random edits of seed ${SEED} leave all as a fresh start would be`,
  { timeout: COUNT * 10_000 },
  async ({ browser }) => {
    await using temp = await makeTempDir('edits')
    const state = firstState()
    const written = new Map(filesOf(state))
    const root = await linkProject(join(temp.path, 'project'), Object.fromEntries(written))
    await using dev = await startDevCommand(root)
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(dev.origin)
    const random = seededRandom(SEED)
    const log: string[] = []
    for (let at = 1; at <= COUNT; at += 1) {
      const isCompared = at % COMPARED_EVERY === 0
      log.push(`${at} ${edit(state, random, at)}`)
      if (isCompared) state.faults.clear()
      await writeState(root, written, state)
      if (isCompared) await compare(page, root, dev.origin, state, () => `${log.join(', ')}\n${dev.output()}`)
      else await delay(random() * LONGEST_PAUSE_MS)
    }
    expect(dev.output()).not.toContain('A defect of the development server')
    await context.close()
  },
)

/** The development server, and the open page, beside a build that knows nothing of what was before. */
async function compare(
  page: Page,
  root: string,
  origin: string,
  state: EditedApplication,
  history: () => string,
): Promise<void> {
  const paths = pathsOf(state)
  await rm(join(root, 'dist'), { recursive: true, force: true })
  const { code, errors } = await runMillrace(root, ['build'])
  if (code !== 0) throw new Error(`The build failed.\n${errors}\n${history()}`)
  const server = await startBuiltServer({ entry: join(root, 'dist/server/main.js') })
  try {
    const expected = await answersOf(server.origin, paths)
    const fresh = await page.context().newPage()
    await fresh.goto(server.origin)
    const seen = await seenIn(fresh)
    await fresh.close()
    const timeout = SETTLED_WITHIN_MS
    await expect.poll(() => answersOf(origin, paths).catch(String), { timeout, message: history() }).toEqual(expected)
    // A restart that cuts the loading of the page leaves the browser's own error page, which visitors reload.
    if (await isLost(page)) await page.goto(origin)
    await expect.poll(() => seenIn(page).catch(String), { timeout, message: history() }).toEqual(seen)
  } finally {
    await server.stop()
  }
}
