import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium } from '../browser.ts'
import { findChromium } from '../chromium.ts'
import { makeOutsideFolder, packedArchive, type OutsideFolder } from '../installed-application.ts'
import { CORPUS_FOLDER, expectBuilt, faultsOf, installCorpus } from './corpus-application.ts'
import type { CORPUS } from './corpus.ts'

/** Registers the tests of an application with these packages: types, build, `serve` and `dev`. */
export function testCorpus(packages: typeof CORPUS): void {
  const state = { folder: undefined as OutsideFolder | undefined, browser: undefined as Browser | undefined }

  beforeAll(async () => {
    state.folder = await makeOutsideFolder()
    await installCorpus(state.folder, await packedArchive(state.folder), packages)
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

  test('types hold, and the build has no warning', () => expectBuilt(outside()))

  test.for(['serve', 'dev'] as const)('millrace %s: every page is served and hydrated', async (command) => {
    await using server = await outside().serve(['millrace', command], { cwd: CORPUS_FOLDER })
    expect(await faultsOf(packages, server, state.browser)).toEqual({})
  })
}
