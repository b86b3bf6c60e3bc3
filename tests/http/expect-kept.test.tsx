import { expect, test } from 'vitest'
import { expectKept } from '../../src/testing/expect-kept.ts'
import { counted } from '../support/kept-pages.tsx'
import { page, tinyApp } from '../support/tiny-app.tsx'

test('a test of an application says why a page is not kept', async () => {
  const { app } = tinyApp({
    routes: {
      '/kept': counted().route,
      '/cookie': counted(({ context }) => context.cookie('user')).route,
      '/broken': counted(() => {
        throw new Error('no mill')
      }).route,
      '/plain': { page: page(() => 'plain') },
    },
  })
  await expectKept(app, '/kept')
  await expect(expectKept(app, '/cookie')).rejects.toThrow(
    /^\/cookie is not kept: what is made for all visitors reads or sets something of one: cookie user \(tests\/http\/expect-kept\.test\.tsx:\d+\)\. Move that into a function visitor/,
  )
  await expect(expectKept(app, '/plain')).rejects.toThrow(
    "does not say cache: 'shared'. Add that, or test another path.",
  )
  await expect(expectKept(app, '/missing')).rejects.toThrow('/missing is not kept: it was answered with 404, and only')
  await expect(expectKept(app, '/broken')).rejects.toThrow('it was answered with 500 (no mill), and only')
  await app.stop()
})
