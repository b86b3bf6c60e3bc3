/** Packages that products use: type-checked, built, served, hydrated, and run by `millrace dev`. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import { CORPUS } from '../support/corpus/corpus.ts'
import { CORPUS_FOLDER, expectBuilt, faultsOf, installCorpus } from '../support/corpus/corpus-application.ts'
import { makeOutsideFolder, packedArchive, type OutsideFolder } from '../support/installed-application.ts'

const state = { folder: undefined as OutsideFolder | undefined, browser: undefined as Browser | undefined }

beforeAll(async () => {
  state.folder = await makeOutsideFolder()
  await installCorpus(state.folder, await packedArchive(state.folder), CORPUS)
  if (findChromium() !== undefined) state.browser = await launchChromium()
})

afterAll(async () => {
  await state.browser?.close()
  await state.folder?.[Symbol.asyncDispose]()
})

function outside(): OutsideFolder {
  if (state.folder === undefined) throw new Error('There is no folder.')
  return state.folder
}

test('the corpus has at least fifty packages', () => {
  expect(new Set(CORPUS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(50)
})

test('types hold, and the build has no warning', () => expectBuilt(outside()))

test.for(['serve', 'dev'] as const)('millrace %s: every page is served and hydrated', async (command) => {
  await using server = await outside().serve(['millrace', command], { cwd: CORPUS_FOLDER })
  expect(await faultsOf(CORPUS, server, state.browser)).toEqual({})
})
