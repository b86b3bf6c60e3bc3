import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import request from 'supertest'
import { createTestApp } from 'millrace/testing'
import type { LoaderArgs } from 'millrace/server'
import { useActionState } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'
import * as prices from '../../fixtures/recipes/how-to/api/prices.server.ts'
import * as payment from '../../fixtures/recipes/how-to/hooks/payment.server.ts'
import { sent } from '../../fixtures/recipes/how-to/mail.server.ts'
import { order } from '../../fixtures/recipes/how-to/order/actions.server.ts'
import { startNightly } from '../../fixtures/recipes/how-to/jobs/nightly.server.ts'
import { LocalTime } from '../../fixtures/recipes/how-to/local-time.tsx'
import { add } from '../../fixtures/recipes/how-to/parts/actions.server.ts'
import * as partsLoader from '../../fixtures/recipes/how-to/parts/loader.server.ts'
import PartsPage from '../../fixtures/recipes/how-to/parts/page.tsx'
import * as themeLoader from '../../fixtures/recipes/how-to/theme/layout.server.ts'
import ThemeLayout from '../../fixtures/recipes/how-to/theme/layout.tsx'

import TranslatedPage from '../../fixtures/recipes/how-to/translated-page.tsx'
import { makeTempDir } from '../../support/temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const RECIPES = join(PROJECT, 'tests/fixtures/recipes/how-to')

function NewPartPage() {
  const [state, formAction] = useActionState(add, null)
  return (
    <form action={formAction}>
      <input name="name" />
      <p role="alert">{state !== null && 'message' in state ? state.message : null}</p>
    </form>
  )
}

function opened() {
  const app = createTestApp({
    routes: {
      '/': {
        layout: () => Promise.resolve({ default: ThemeLayout }),
        layoutLoader: () => Promise.resolve(themeLoader),
        page: () => Promise.resolve({ default: () => <h1>Mills</h1> }),
      },
      '/theme': { handler: () => Promise.resolve({ POST: ({ request }: LoaderArgs) => new Response(request.method) }) },
      '/parts': { page: () => Promise.resolve({ default: PartsPage }), loader: () => Promise.resolve(partsLoader) },
      '/parts/new': { page: () => Promise.resolve({ default: NewPartPage }) },
      '/parts/[id]': { page: () => Promise.resolve({ default: () => <h1>A part</h1> }) },
      '/[locale]/parts': { page: () => Promise.resolve({ default: TranslatedPage }) },
      '/api/prices': { handler: () => Promise.resolve(prices) },
      '/hooks/payment': { handler: () => Promise.resolve(payment) },
    },
  })
  onTestFinished(() => app.stop())
  return app
}

test('the chapter shows what the tests below run', async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/how-to.md'), 'utf8'))
  const shown = blocks.flatMap(({ code }) => {
    const [line, path] = /^(?:\/\/|\/\*) src\/app\/(\S+)(?: \*\/)?\n/.exec(code) ?? []
    return line === undefined || path === undefined ? [] : [{ path, code: code.slice(line.length) }]
  })
  expect(shown.map(({ path }) => path)).toHaveLength(15)
  for (const { path, code } of shown) expect(`${code}\n`).toBe(await readFile(join(RECIPES, path), 'utf8'))
})

test('a date is written in UTC by the server, and for the first render of the browser', () => {
  expect(renderToString(<LocalTime at={new Date('2026-03-01T08:05:00Z')} />)).toBe(
    '<time dateTime="2026-03-01T08:05:00.000Z">2026-03-01 08:05 UTC</time>',
  )
})

test('the theme of the cookie is in the HTML, and no other text of a cookie', async () => {
  const themeFor = async (cookie: string) =>
    /data-theme="([^"]*)"/.exec((await request(opened()).get('/').set('Cookie', cookie)).text)?.[1]
  expect(await themeFor('theme=dark')).toBe('dark')
  expect(await themeFor('theme=%22%3E')).toBe('system')
  expect(await themeFor('other=1')).toBe('system')
})

test('only the named site may read the API, also by a preflight', async () => {
  const app = opened()
  const allowed = 'https://shop.example.com'
  const preflight = await request(app).options('/api/prices').set('Origin', allowed).expect(204)
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': allowed,
    'access-control-allow-methods': 'GET, POST',
    vary: expect.stringContaining('Origin'),
  })
  const answer = await request(app).get('/api/prices').set('Origin', allowed).expect(200)
  expect(answer.headers['access-control-allow-origin']).toBe(allowed)
  const other = await request(app).get('/api/prices').set('Origin', 'https://evil.example.com').expect(200)
  expect(other.headers['access-control-allow-origin']).toBeUndefined()
})

test('a webhook is taken only with the signature of its bytes', async () => {
  vi.stubEnv('WEBHOOK_SECRET', 'whsec')
  onTestFinished(() => void vi.unstubAllEnvs())
  // Not UTF-8: as text, other bytes would have the same signature.
  const body = Buffer.from('{ "type": "paid", "by": "Andr\xe9" }', 'latin1')
  const sign = (secret: string, bytes: Buffer): string => createHmac('sha256', secret).update(bytes).digest('hex')
  const post = (signature: string) =>
    request(opened())
      .post('/hooks/payment')
      .set('Content-Type', 'application/json')
      .set('X-Signature', signature)
      .serialize((bytes: unknown) => bytes as string)
      .send(body as never)
  await post(sign('whsec', body)).expect(204)
  await post(sign('other', body)).expect(400)
  await post(sign('whsec', Buffer.from(body.toString()))).expect(400)
  await post('').expect(400)
})

test('strangers send few mails to an address, from however many clients, and its owner can order', async () => {
  const app = createTestApp(
    {
      routes: {
        '/order': {
          page: () =>
            Promise.resolve({
              default: function OrderPage() {
                const [state, formAction] = useActionState(order, null)
                return (
                  <form action={formAction}>
                    <input name="email" />
                    <p role="status">{state?.kind}</p>
                  </form>
                )
              },
            }),
        },
      },
    },
    { environment: { TRUST_PROXY: '127.0.0.0/8,::1,::ffff:127.0.0.1' } },
  )
  onTestFinished(() => app.stop())
  onTestFinished(() => void sent.splice(0))
  const orderFrom = async (address: string, email: string): Promise<string> => {
    const visitor = app.visitor({ headers: { 'X-Forwarded-For': address } })
    return (await (await visitor.get('/order')).submit('form', { email })).text('[role=status]') ?? ''
  }
  for (let client = 1; client <= 12; client += 1) {
    expect(await orderFrom(`203.0.113.${client}`, client % 2 === 0 ? 'ann@example.com' : 'Ann@Example.com')).toBe(
      'ordered',
    )
  }
  await expect.poll(() => sent.length).toBe(5)
  const kinds: string[] = []
  for (let at = 0; at < 11; at += 1) kinds.push(await orderFrom('198.51.100.1', `bob${at}@example.com`))
  expect([kinds.at(9), kinds.at(10)]).toEqual(['ordered', 'too-many'])
})

test('a redirect behind a try is followed, and a failure in it becomes a state', async () => {
  const visitor = opened().visitor()
  const done = await (await visitor.get('/parts/new')).submit('form[action*=_action]', { name: 'Wheel' })
  expect(done.url).toMatch(/\/parts\/\d+$/)
  const refused = await (await visitor.get('/parts/new')).submit('form[action*=_action]', { name: 'Part 1' })
  expect(refused.text('[role=alert]')).toContain('Part 1 is there already')
  const broken = await (await visitor.get('/parts/new')).submit('form[action*=_action]', { name: 'Broken' })
  expect([broken.status, broken.html.includes('db.internal')]).toEqual([500, false])
})

test('a page has the texts of the language in its URL', async () => {
  const textsOf = async (path: string) => {
    const page = await opened().visitor().get(path)
    return [page.text('h1'), page.text('p')]
  }
  expect(await textsOf('/en/parts')).toEqual(['Parts', '3 parts'])
  expect(await textsOf('/de/parts')).toEqual(['Teile', '3 Teile'])
})

test('a job runs once a night, in one of two processes', async () => {
  vi.useFakeTimers({ now: new Date('2026-03-01T02:58:30Z'), toFake: ['Date', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  await using temp = await makeTempDir('nightly')
  const work = vi.fn<() => Promise<void>>(() => Promise.resolve())
  const server = { dataDir: temp.path, log: pino({ level: 'silent' }), signal: new AbortController().signal }
  const stops = [1, 2].map((worker) => startNightly({ ...server, worker, revalidate: async () => {} }, 'drafts', work))
  vi.advanceTimersByTime(60_000)
  expect(work).not.toHaveBeenCalled()
  vi.advanceTimersByTime(5 * 60_000)
  expect(work).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(24 * 3_600_000)
  expect(work).toHaveBeenCalledTimes(2)
  for (const stop of stops) stop()
})

test('a list has pages with links, and a wrong number is the first page', async () => {
  const visitor = opened().visitor()
  const linksOf = async (path: string) => {
    const page = await visitor.get(path)
    return [page.all('li').length, ...page.all('nav a').map(({ text }) => text)]
  }
  expect(await linksOf('/parts')).toEqual([20, 'Next'])
  expect(await linksOf('/parts?page=2')).toEqual([20, 'Previous', 'Next'])
  expect((await linksOf('/parts?page=3')).slice(1)).toEqual(['Previous'])
  expect(await linksOf('/parts?page=x')).toEqual([20, 'Next'])
})
