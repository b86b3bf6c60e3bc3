/** `browserTest` for the pages of tests/fixtures/handbook-app: examples that the handbook prints. */
import { browserTest } from './browser.ts'
import { startEdition } from './router-app.ts'

export const handbookTest = browserTest
  .extend('edition', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const edition = await startEdition('1', 'handbook-app')
    onCleanup(() => edition.stop())
    return edition
  })
  .override('server', { scope: 'worker' }, ({ edition }) => edition.server)
