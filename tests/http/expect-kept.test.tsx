import { expect, test } from 'vitest'
import { expectKept } from '../../src/testing/expect-kept.ts'
import { counted } from '../support/kept-pages.tsx'
import { page, tinyApp } from '../support/tiny-app.tsx'

test('a test of an application says why a page is not kept', async () => {
  const { app } = tinyApp({
    routes: {
      '/kept': counted().route,
      '/cookie': counted(({ context }) => context.cookie('user')).route,
      '/plain': { page: page(() => 'plain') },
    },
  })
  await expectKept(app, '/kept')
  await expect(expectKept(app, '/cookie')).rejects.toThrow(
    '/cookie is not kept: what is made for all visitors reads or sets something of one: cookie user.',
  )
  await expect(expectKept(app, '/plain')).rejects.toThrow("does not say cache: 'shared'")
  await expect(expectKept(app, '/missing')).rejects.toThrow('/missing is not kept')
  await app.stop()
})
