/** What a hostile visitor can do to pages that are kept for all. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { counted, drop, numberOf, statusOf, visit } from '../../support/kept-pages.tsx'
import { page, tinyApp } from '../../support/tiny-app.tsx'

const MARK = 'evil-mark'

describe('nothing that a visitor sends is in what the next one gets', () => {
  test.for([
    ['a cookie', { Cookie: `a=${MARK}` }],
    ['a forwarded host', { 'X-Forwarded-Host': `${MARK}.example`, 'X-Forwarded-Proto': 'https' }],
    [
      'other forwarding headers',
      { 'X-Original-URL': `/${MARK}`, 'X-Rewrite-URL': `/${MARK}`, Forwarded: `host=${MARK}` },
    ],
    ['a language', { 'Accept-Language': MARK }],
    ['a referrer', { Referer: `https://${MARK}.example/` }],
    ['an agent', { 'User-Agent': MARK }],
    ['an id', { 'X-Request-Id': MARK, 'Sentry-Trace': `${'a'.repeat(32)}-${'b'.repeat(16)}-1` }],
    ['a method', { 'X-HTTP-Method-Override': 'POST' }],
  ] as const)('%s', async ([, headers]) => {
    const site = tinyApp({ routes: { '/': counted().route } })
    await visit(site, `/?utm=${MARK}`, headers)
    const { text, headers: got } = await visit(site)
    expect(statusOf({ headers: got })).toContain('hit')
    expect(text + JSON.stringify(got)).not.toContain(MARK)
  })

  test('not even the query of a form’s page, where nothing else reads it', async () => {
    const form = page(() => <form action="/elsewhere" />)
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: form } } })
    await visit(site, `/?utm=${MARK}`)
    expect((await visit(site)).text).not.toContain(MARK)
  })
})

test('spellings of one path share what drops them', async () => {
  const { state, route } = counted()
  const site = tinyApp({ routes: { '/mills/[id]': route, '/drop': drop } })
  for (const path of ['/mills/a', '/mills/%61', '/mills/a?x']) await visit(site, path)
  const made = state.made
  await request(site.app).post('/drop?what=/mills/a').set('Host', 'mills.example').expect(200)
  for (const path of ['/mills/a', '/mills/%61']) {
    expect(Number(/\d+/.exec(numberOf(await visit(site, path)))?.[0])).toBeGreaterThan(made)
  }
})
