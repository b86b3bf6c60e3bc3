/** What loaders and handlers are told of the site's own origin. */
import request from 'supertest'
import { expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/index.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

test.for([
  [undefined, 'evil.test', null],
  ['https://shop.test', 'shop.test', 'https://shop.test'],
  ['https://shop.test,https://shop.example', 'shop.example', 'https://shop.example'],
  ['https://*.shop.test', 'one.shop.test', 'https://one.shop.test'],
] as const)('with ORIGIN %s, a request for %s is told %s', async ([ORIGIN, host, told]) => {
  const { app } = tinyApp({
    routes: {
      '/origin': {
        handler: moduleOf({
          GET: ({ context }: LoaderArgs<'/origin'>) => Response.json({ origin: context.origin ?? null }),
        }),
      },
      '/kept': {
        handler: moduleOf({
          GET: async ({ context }: LoaderArgs<'/kept'>) =>
            new Response(
              String(await context.cached('origin', { seconds: 9 }, () => context.origin).catch(() => 'refused')),
            ),
        }),
      },
    } as never,
    environment: ORIGIN === undefined ? {} : { ORIGIN },
  })
  expect((await request(app).get('/origin').set('Host', host).expect(200)).body).toEqual({ origin: told })
  // Of several, it is the choice of one visitor.
  expect((await request(app).get('/kept').set('Host', host)).text).toBe('refused')
})
