/** What depends on who asks, or how, is in no shared cache, whatever the loader says. */
import request from 'supertest'
import { expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

test('a public page that reads whether it is prefetched says so to caches', async () => {
  const loader = async ({ context }: LoaderArgs) => {
    context.headers.set('Cache-Control', 'public, max-age=60')
    return { isCounted: !context.prefetch }
  }
  const { app } = tinyApp({ routes: { '/': { page: page(() => <p>page</p>), loader: moduleOf({ loader }) } } })
  for (const asked of [{}, { 'Sec-Purpose': 'prefetch' }]) {
    const { headers } = await request(app).get('/').set(asked).expect(200)
    expect(headers['vary']?.split(', ')).toEqual(expect.arrayContaining(['Purpose', 'Sec-Purpose']))
  }
})

test('a header that middleware has taken away or replaced is so in the request of loaders', async () => {
  const loader = ({ request: { headers } }: LoaderArgs) => [
    headers.get('x-internal'),
    headers.get('cookie'),
    headers.get('x-added'),
  ]
  const { app } = tinyApp({
    middleware: [
      (req, _res, next) => {
        delete req.headers['x-internal']
        req.headers.cookie = 'role=guest'
        req.headers['x-added'] = 'yes'
        next()
      },
    ],
    routes: {
      '/': { page: page(({ data }: { data: unknown }) => <p>{JSON.stringify(data)}</p>), loader: moduleOf({ loader }) },
    },
  })
  const { text } = await request(app).get('/').set({ 'X-Internal': '1', Cookie: 'role=admin' }).expect(200)
  expect(text.replaceAll('&quot;', '"')).toContain('<p>[null,"role=guest","yes"]</p>')
})
