import request from 'supertest'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import application from '../../src/app/app.ts'
import { createApp, type MillraceApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { createInbox, type InboxStore } from '../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase } from '../../src/server/reports/report-database.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const TRACE = 'ab'.repeat(16)
const HOSTILE = '<script>alert(1)</script>'

let folder: TempDir
let apps: MillraceApp[]
let closers: (() => void)[]

beforeEach(async () => {
  folder = await makeTempDir('inbox-page')
  apps = []
  closers = []
})
afterEach(async () => {
  for (const app of apps) app.dispose()
  for (const close of closers) close()
  await folder.remove()
})

function start(env: Record<string, string> = {}): MillraceApp {
  const app = createApp({
    app: application,
    config: readConfig({ DATA_DIR: folder.path, LOG_LEVEL: 'silent', ...env }),
  })
  apps.push(app)
  return app
}

/** The inbox of another process of the same server. */
function inbox(): InboxStore {
  const database = openReportDatabase(folder.path)
  closers.push(() => database.dispose())
  return createInbox(database)
}

function receive(store: InboxStore, event: object): Buffer {
  const payload = Buffer.from(JSON.stringify(event))
  const body = serializeEnvelope({ header: {}, items: [{ type: 'event', header: { type: 'event' }, payload }] })
  store.accept({
    receivedAt: 1_800_000_000_000,
    client: '192.0.2.1',
    eventId: undefined,
    headers: {},
    body,
    categories: { error: 1 },
    keep: 'error',
  })
  return body
}

const failure = (value: string): object => ({
  exception: {
    values: [
      {
        type: 'Error',
        value,
        stacktrace: { frames: [{ function: 'grind', filename: 'src/mill.ts', lineno: 7, colno: 3 }] },
      },
    ],
  },
  platform: 'node',
  release: 'r1',
  transaction: '/mills/[id]',
  tags: { digest: '3f1c9a0b7d52' },
  contexts: { trace: { trace_id: TRACE } },
})

/** Elements with a `data-testid` that hold nothing but text. */
function textsOf(html: string): string[] {
  return [...html.matchAll(/data-testid="([^"]+)"[^>]*>([^<]*)</g)].map(([, name, text]) => `${name}: ${text}`)
}

describe('/lab/reports', () => {
  it('says that nothing has failed, where nothing has', async () => {
    const { status, text } = await request(start()).get('/lab/reports')
    expect(status).toBe(200)
    expect(text).toContain('Nothing has failed yet')
    expect(text).toContain('data-testid="reports"')
  })

  it('shows one entry a group with its count, and leads to the details and the envelope, without scripts', async () => {
    const app = start()
    const store = inbox()
    const body = receive(store, failure('the wheel is stuck'))
    receive(store, { ...failure('the wheel is stuck'), platform: 'javascript' })
    const list = await request(app).get('/lab/reports')
    expect(list.text.match(/<li class="[^"]*group/g)).toHaveLength(1)
    expect(list.text).toContain('×2')
    expect(list.headers['cache-control']).toBe('private, no-cache')

    const href = /href="(\/lab\/reports\/[0-9a-f]{16})"/.exec(list.text)?.[1] ?? ''
    const details = await request(app).get(href)
    expect(details.status).toBe(200)
    for (const [name, value] of [
      ['title', 'Error: the wheel is stuck'],
      ['digest', '3f1c9a0b7d52'],
      ['route', '/mills/[id]'],
      ['release', 'r1'],
      ['trace', TRACE],
      ['side', 'browser'],
    ]) {
      expect(textsOf(details.text)).toContain(`report-${name}: ${value}`)
    }
    expect(details.text).toContain('grind (src/mill.ts:7:3)')

    const other = /data-testid="report-trace-items".*?href="([^"]+)"/.exec(details.text)?.[1] ?? ''
    const server = await request(app).get(other)
    expect(server.text).toMatch(/data-testid="report-side"[^>]*>server</)
    const saved = /href="(\/lab\/reports\/envelopes\/\d+)"/.exec(server.text)?.[1] ?? ''
    const envelope = await request(app).get(saved).responseType('blob')
    expect(envelope.headers['content-type']).toBe('application/x-sentry-envelope')
    expect(envelope.headers['content-disposition']).toMatch(/^attachment; filename="\d+\.envelope"$/)
    expect(envelope.headers['cross-origin-resource-policy']).toBe('same-origin')
    expect((envelope.body as Buffer).equals(body)).toBe(true)
  })

  it('filters and finds by the URL, and keeps what was chosen in the form and in the links', async () => {
    const app = start()
    const store = inbox()
    receive(store, { ...failure('the wheel is stuck'), release: 'r&1' })
    receive(store, { ...failure('no water'), exception: undefined, message: 'no water', platform: 'javascript' })
    receive(store, { message: 'low <b>', level: 'warning', tags: {} })
    const titles = async (query: string): Promise<string[]> => {
      const { status, text } = await request(app).get(`/lab/reports${query}`)
      expect(status).toBe(200)
      return [...text.matchAll(/<bdi>([^<]*)<\/bdi><\/a><span/g)].map(([, title = '']) => title)
    }
    const [wheel, water, low] = ['Error: the wheel is stuck', 'no water', 'low &lt;b&gt;']
    for (const [query, expected] of [
      ['', [low, water, wheel]],
      ['?q=&side=&level=&release=', [low, water, wheel]],
      ['?side=browser', [water]],
      ['?level=warning', [low]],
      ['?release=r%261', [wheel]],
      ['?q=3f1c9a0b7d52&side=server', [wheel]],
      [`?q=${TRACE}`, [water, wheel]],
      ['?q=WHEEL', [wheel]],
      // What is unknown, repeated or too long filters nothing.
      [`?side=moon&level=a&level=b&page=x&q=${'x'.repeat(201)}`, [low, water, wheel]],
    ] as const)
      expect([query, await titles(query)]).toEqual([query, expected])

    const chosen = await request(app).get('/lab/reports?q=wheel&release=r%261')
    expect(chosen.text).toMatch(/<input [^>]*name="q"[^>]*value="wheel"/)
    expect(chosen.text).toMatch(/<option [^>]*(?:selected="" value="r&amp;1"|value="r&amp;1" selected="")/)
    expect(chosen.text).toContain('href="/lab/reports?release=r%261"')
    expect(chosen.text).toMatch(
      /<time dateTime="2027-01-15T08:00:00.000Z" title="2027-01-15 08:00:00 UTC">[^<]+<\/time>/,
    )
    const nothing = await request(app).get('/lab/reports?q=grindstone')
    expect(nothing.text).toContain('No failure fits')
    expect(nothing.text).toContain('Show all failures')
  })

  it('shows frames of the application, and folds those of packages and long messages', async () => {
    const app = start()
    const store = inbox()
    const frames = [
      { function: 'render', filename: '/srv/node_modules/react-dom/index.js', lineno: 9 },
      { function: 'grind', filename: 'src/mill.ts', lineno: 7 },
      { function: 'next', filename: 'node:internal/timers', lineno: 1 },
    ]
    receive(store, { exception: { values: [{ type: 'E', value: 'w'.repeat(1_900), stacktrace: { frames } }] } })
    const [group] = store.list(1).groups
    const { text } = await request(app).get(`/lab/reports/${group?.id}`)
    const framesIn = (testId: string): string[] => {
      const [, list = ''] = new RegExp(`data-testid="${testId}".*?>(<li.*?)</ol>`).exec(text) ?? []
      return [...list.matchAll(/<bdi>([^<]*)</g)].map(([, frame = '']) => frame)
    }
    expect(framesIn('report-frames')).toEqual(['grind (src/mill.ts:7)'])
    expect(framesIn('report-all-frames')).toHaveLength(3)
    expect(text).toContain('All 3 frames, 2 of packages and Node included')
    expect(text).toMatch(/<details[^>]*><summary[^>]*><bdi>E: w{397}…<\/bdi><\/summary><p[^>]*><bdi>E: w{1900}</)
  })

  it('shows what a hostile report says as text, and nothing else', async () => {
    const app = start()
    receive(inbox(), {
      message: HOSTILE,
      transaction: HOSTILE,
      tags: { [HOSTILE]: HOSTILE },
      request: { url: `javascript:alert(1)//${HOSTILE}` },
    })
    const list = await request(app).get('/lab/reports')
    const href = /href="(\/lab\/reports\/[0-9a-f]{16})"/.exec(list.text)?.[1] ?? ''
    const details = await request(app).get(href)
    for (const { status, text } of [list, details]) {
      expect(status).toBe(200)
      expect(text).toContain('&lt;script&gt;alert(1)')
      expect(text).not.toContain(HOSTILE)
      expect(text).not.toMatch(/href="javascript:/)
    }
  })

  it.each([
    '/lab/reports/0123456789abcdef',
    '/lab/reports/x',
    '/lab/reports/envelopes/1',
    '/lab/reports/envelopes/1e3',
  ])('answers %s with 404 where there is no such thing', async (path) => {
    expect((await request(start()).get(path)).status).toBe(404)
  })

  it('can only be read', async () => {
    for (const path of ['/lab/reports', '/lab/reports/0123456789abcdef', '/lab/reports/envelopes/1']) {
      for (const method of ['post', 'put', 'delete'] as const) {
        expect((await request(start())[method](path)).status).toBe(405)
      }
    }
  })

  it('says that reports go to the service where a DSN is set, and shows nothing of what was kept before', async () => {
    const store = inbox()
    receive(store, failure('the wheel is stuck'))
    const [group] = store.list(1).groups
    const app = start({ SENTRY_DSN: 'http://key@127.0.0.1:9/1' })
    const { status, text } = await request(app).get('/lab/reports')
    expect(status).toBe(200)
    expect(text).toContain('data-testid="reports-elsewhere"')
    expect(text).not.toContain('the wheel is stuck')
    expect(text).not.toContain('data-testid="reports"')
    expect((await request(app).get(`/lab/reports/${group?.id}`)).status).toBe(404)
    expect((await request(app).get('/lab/reports/envelopes/1')).status).toBe(404)
  })
})
