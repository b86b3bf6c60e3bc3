/** Route data that pages of other sites ask for: they cannot read it, and could learn from its size or time. */
import supertest from 'supertest'
import { expect, test, vi } from 'vitest'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

function site() {
  const loader = vi.fn<() => object>(() => ({ secret: 1 }))
  const { app } = tinyApp({
    routes: { '/': { ...fallbacks('root'), page: page(() => <p>home</p>), loader: moduleOf({ loader }) } } as never,
  })
  return { app, loader }
}

test.for([
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'script' },
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' },
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' },
  { 'Sec-Fetch-Site': 'cross-site' },
])('%j gets 403, and no loader runs', async (headers) => {
  const { app, loader } = site()
  for (const method of ['get', 'head'] as const) {
    const answer = await supertest(app)[method]('/_m/data/').set(headers)
    expect([answer.status, answer.headers['cache-control']]).toEqual([403, 'no-store'])
  }
  expect(loader).not.toHaveBeenCalled()
})

test.for([
  {},
  { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors' },
  { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'cors' },
  { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' },
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' },
])('%j gets the data', async (headers) => {
  const { app, loader } = site()
  expect((await supertest(app).get('/_m/data/').set(headers)).status).toBe(200)
  expect(loader).toHaveBeenCalled()
})
